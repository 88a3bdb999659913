/** The fields of a cooperative: one declaration each for bodies, responses and OpenAPI. */
import {
  COOPERATIVE_STATUSES,
  type Cooperative,
  type CooperativeSummary,
  type CooperativeValues,
  DEFAULT_COOPERATIVE_STATUS,
  SECTORS,
} from '../../domain/membership/cooperatives.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { COOPERATIVE_CODE, MAX_LENGTH, parseCooperativeCode } from '../../domain/values/text.ts';
import { choice, pastDate, plainText, textField, withSpaces } from '../../json/fields.ts';
import { integer, nullable, object, type Static, string } from '../../json/schema.ts';
import { instant, plain, serializeObject, text } from '../../json/serializer.ts';
import { defaulting, optional, type ParsedBody, patchOf, required } from '../declare/body-fields.ts';
import { pathId } from '../declare/path-id.ts';
import { idFilter } from '../declare/query.ts';
import { type Representation, representCounted } from '../writes/preconditions.ts';
import { COOPERATIVE_BODY_EXAMPLE, COOPERATIVE_PATCH_EXAMPLE } from './examples.ts';

export const COOPERATIVE_ID = pathId("A cooperative's id; opaque.");

/** The parameter `cooperative` of lists. */
export const COOPERATIVE_FILTER = idFilter(
  'Only those of the cooperative with this id.',
  'Expected the id of a cooperative; a code goes into /cooperatives?code=',
);

const codeOf = (pattern: string) => string({ pattern, description: 'Unique: 1 to 32 of A-Z, 0-9 and "-".' });

export const COOPERATIVE_FIELDS = {
  code: textField(
    codeOf(COOPERATIVE_CODE.source),
    parseCooperativeCode,
    codeOf(withSpaces(COOPERATIVE_CODE)),
  ),
  name: plainText(MAX_LENGTH.name, 'Name of the cooperative.'),
  sector: choice(SECTORS, 'What the cooperative does.'),
  province: plainText(MAX_LENGTH.place, 'Province of its seat.'),
  district: plainText(MAX_LENGTH.place, 'District of its seat.'),
  registration_date: pastDate('Day on which it was registered.'),
  status: choice(COOPERATIVE_STATUSES, 'Whether it works.'),
};

const F = COOPERATIVE_FIELDS;

/** The body of POST. */
export const COOPERATIVE_BODY = {
  title: 'CooperativeBody',
  fields: {
    code: required(F.code),
    name: required(F.name),
    sector: optional(F.sector),
    province: optional(F.province),
    district: optional(F.district),
    registration_date: optional(F.registration_date),
    status: defaulting(F.status, DEFAULT_COOPERATIVE_STATUS),
  },
  example: COOPERATIVE_BODY_EXAMPLE,
};
/** The body of PUT: what GET gave can be changed and sent back. */
export const COOPERATIVE_UPDATE_BODY = {
  ...COOPERATIVE_BODY,
  title: 'CooperativeUpdateBody',
  readOnly: ['id', 'members_count', 'created_at', 'updated_at'],
};
/** The body of PATCH. */
export const COOPERATIVE_PATCH_BODY = patchOf(
  COOPERATIVE_UPDATE_BODY,
  'CooperativePatchBody',
  COOPERATIVE_PATCH_EXAMPLE,
);
export type CooperativeBody = ParsedBody<typeof COOPERATIVE_BODY.fields>;

const dateTime = (description: string) => string({ format: 'date-time', description });

export const COOPERATIVE = object(
  {
    id: string({ description: 'Opaque.' }),
    code: F.code.schema,
    name: F.name.schema,
    sector: nullable(F.sector.schema),
    province: nullable(F.province.schema),
    district: nullable(F.district.schema),
    registration_date: nullable(F.registration_date.schema),
    status: F.status.schema,
    members_count: integer({ minimum: 0, description: 'Active members.' }),
    created_at: dateTime('When the row was created.'),
    updated_at: dateTime('When the row last changed.'),
  },
  { title: 'Cooperative' },
);

/** What other resources show of a cooperative. */
export const COOPERATIVE_SUMMARY = object(
  { id: string(), code: string(), name: string() },
  { title: 'CooperativeReference' },
);

// The store gives the same object for a cooperative until one changes.
const summaryTexts = new WeakMap<CooperativeSummary, string>();

export function serializeCooperativeSummary(cooperative: CooperativeSummary): string {
  let text = summaryTexts.get(cooperative);
  if (text === undefined) {
    const { id, code, name } = cooperative;
    const shown: Static<typeof COOPERATIVE_SUMMARY> = { id: String(id), code, name };
    text = JSON.stringify(shown);
    summaryTexts.set(cooperative, text);
  }
  return text;
}

export const serializeCooperative = serializeObject<Static<typeof COOPERATIVE>, Cooperative>({
  id: plain(({ id }) => String(id)),
  code: plain(({ code }) => code),
  name: text(({ name }) => name),
  sector: plain(({ sector }) => sector),
  province: text(({ province }) => province),
  district: text(({ district }) => district),
  registration_date: plain(({ registrationDate }) => registrationDate),
  status: plain(({ status }) => status),
  members_count: ({ membersCount }) => String(membersCount),
  created_at: instant(({ createdAt }) => createdAt),
  updated_at: instant(({ updatedAt }) => updatedAt),
});

/** Members join and leave without a write of the cooperative, so the tag has a part for their count. */
export const representCooperative = (cooperative: Cooperative, zone: TimeZone): Representation =>
  representCounted(
    serializeCooperative(cooperative, zone),
    serializeCooperative({ ...cooperative, membersCount: 0 }, zone),
    cooperative.membersCount,
  );

/** A checked body as the domain names it. */
export const toCooperativeValues = (body: CooperativeBody): CooperativeValues => ({
  code: body.code,
  name: body.name,
  sector: body.sector,
  province: body.province,
  district: body.district,
  registrationDate: body.registration_date,
  status: body.status ?? DEFAULT_COOPERATIVE_STATUS,
});

/** The stored values as a body would give them. */
export const toCooperativeBody = (cooperative: Cooperative): CooperativeBody => ({
  code: cooperative.code,
  name: cooperative.name,
  sector: cooperative.sector,
  province: cooperative.province,
  district: cooperative.district,
  registration_date: cooperative.registrationDate,
  status: cooperative.status,
});
