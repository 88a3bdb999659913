/** The fields of a member: one declaration each for bodies, responses and OpenAPI. */

import { IDENTITY_CARD, parseIdentityCard } from '../../../domain/membership/identity-card.ts';
import {
  DEFAULT_MEMBER_STATUS,
  DEFAULT_ROLE,
  GENDERS,
  MEMBER_STATUSES,
  type Member,
  ROLES,
} from '../../../domain/membership/members.ts';
import { E164, parseMobile } from '../../../domain/membership/mobile.ts';
import { formatDateTime } from '../../../domain/values/date-time.ts';
import { MAX_LENGTH } from '../../../domain/values/text.ts';
import { choice, pastDate, pastDateTime, plainText, reference, textField } from '../../../json/fields.ts';
import { nullable, object, type Static, string } from '../../../json/schema.ts';
import {
  type FieldSerializers,
  instant,
  plain,
  type Serialize,
  serializeObject,
  text,
} from '../../../json/serializer.ts';
import type { ListedMember } from '../../../store/ports/registry.ts';
import { defaulting, optional, patchOf, required } from '../../declare/body-fields.ts';
import { COOPERATIVE_SUMMARY, serializeCooperativeSummary } from '../cooperative-fields.ts';
import { MEMBER_BODY_EXAMPLE, MEMBER_PATCH_EXAMPLE } from '../examples.ts';

export const MEMBER_FIELDS = {
  identity_card: textField(
    string({ pattern: IDENTITY_CARD.source, description: 'National ID: exactly 16 digits.' }),
    parseIdentityCard,
  ),
  member_code: plainText(MAX_LENGTH.memberCode, "The cooperative's own code for the member; unique there."),
  full_name: plainText(MAX_LENGTH.name, 'Name as registered in the cooperative.'),
  first_name: plainText(MAX_LENGTH.name, 'Never guessed from the full name.'),
  last_name: plainText(MAX_LENGTH.name, 'Never guessed from the full name.'),
  gender: choice(GENDERS, 'As registered; never derived from the national ID.'),
  date_of_birth: pastDate('As registered; never derived from the national ID.'),
  mobile: textField(
    string({ pattern: E164.source, description: 'E.164.' }),
    parseMobile,
    string({ minLength: 1, description: 'E.164; `07…`, `7…` and `2507…` are read as Rwandan.' }),
  ),
  role: choice(ROLES, 'Role in the cooperative.'),
  status: choice(MEMBER_STATUSES, 'Only active memberships are found by the lookups.'),
  registration_date: pastDateTime(
    'When the person joined the cooperative; the newest decides the primary name.',
  ),
};

const F = MEMBER_FIELDS;

const BODY_FIELDS = {
  cooperative_id: required(reference('The cooperative.')),
  identity_card: required(F.identity_card),
  member_code: required(F.member_code),
  full_name: optional(F.full_name),
  first_name: optional(F.first_name),
  last_name: optional(F.last_name),
  gender: optional(F.gender),
  date_of_birth: optional(F.date_of_birth),
  mobile: optional(F.mobile),
  role: defaulting(F.role, DEFAULT_ROLE),
  status: defaulting(F.status, DEFAULT_MEMBER_STATUS),
  // The fallback is now on POST, the stored one on PUT.
  registration_date: defaulting(F.registration_date),
};

/** The body of POST. */
export const MEMBER_BODY = {
  title: 'MemberBody',
  fields: BODY_FIELDS,
  oneOf: [['full_name'], ['first_name', 'last_name']],
  example: MEMBER_BODY_EXAMPLE,
};

/** The body of PUT: the cooperative cannot change, so it may be left out, as it is in what GET gives. */
export const MEMBER_UPDATE_BODY = {
  ...MEMBER_BODY,
  title: 'MemberUpdateBody',
  fields: { ...BODY_FIELDS, cooperative_id: defaulting(reference('Cannot be changed.')) },
  readOnly: ['id', 'cooperative', 'created_at', 'updated_at'],
};

/** The body of PATCH. */
export const MEMBER_PATCH_BODY = patchOf(MEMBER_UPDATE_BODY, 'MemberPatchBody', MEMBER_PATCH_EXAMPLE);

const ROW = {
  id: string({ description: 'Opaque.' }),
  member_code: F.member_code.schema,
  full_name: F.full_name.schema,
  identity_card: F.identity_card.schema,
  mobile: nullable(F.mobile.schema),
  gender: nullable(F.gender.schema),
  role: F.role.schema,
  status: F.status.schema,
  cooperative: COOPERATIVE_SUMMARY,
  registration_date: F.registration_date.schema,
};

/** One row of a list. */
export const MEMBER_ROW = object(ROW, { title: 'MemberRow' });

/** One member by its own path. */
export const MEMBER = object(
  {
    ...ROW,
    first_name: nullable(F.first_name.schema),
    last_name: nullable(F.last_name.schema),
    date_of_birth: nullable(F.date_of_birth.schema),
    created_at: string({ format: 'date-time', description: 'When the row was created.' }),
    updated_at: string({ format: 'date-time', description: 'When the row last changed.' }),
  },
  { title: 'Member' },
);

const ROW_FIELDS: FieldSerializers<Static<typeof MEMBER_ROW>, Member> = {
  id: plain(({ id }) => String(id)),
  member_code: text(({ memberCode }) => memberCode),
  full_name: text(({ fullName }) => fullName),
  identity_card: plain(({ identityCard }) => identityCard),
  mobile: plain(({ mobile }) => mobile),
  gender: plain(({ gender }) => gender),
  role: plain(({ role }) => role),
  status: plain(({ status }) => status),
  cooperative: ({ cooperative }) => serializeCooperativeSummary(cooperative),
  registration_date: instant(({ registrationDate }) => registrationDate),
};

/** A row of a list: storage gives a JSON object, which lacks the fields that depend on more than the row. */
export const serializeMemberRow: Serialize<ListedMember> = ({ json, cooperative, registrationDate }, zone) =>
  `${json.slice(0, -1)},"cooperative":${serializeCooperativeSummary(cooperative)},` +
  `"registration_date":"${formatDateTime(registrationDate, zone)}"}`;

export const serializeMember = serializeObject<Static<typeof MEMBER>, Member>({
  ...ROW_FIELDS,
  first_name: text(({ firstName }) => firstName),
  last_name: text(({ lastName }) => lastName),
  date_of_birth: plain(({ dateOfBirth }) => dateOfBirth),
  created_at: instant(({ createdAt }) => createdAt),
  updated_at: instant(({ updatedAt }) => updatedAt),
});
