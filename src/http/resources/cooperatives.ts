/** Cooperatives: list, one, create, update. */
import { type Clock, nowSeconds } from '../../clock.ts';
import {
  COOPERATIVE_STATUSES,
  type Cooperative,
  type CooperativeSummary,
  type CooperativeValues,
  SECTORS,
} from '../../domain/cooperatives.ts';
import type { TimeZone } from '../../domain/date-time.ts';
import { notFound } from '../../domain/errors.ts';
import { ID, parseId } from '../../domain/ids.ts';
import { COOPERATIVE_CODE, MAX_LENGTH, parseChoice, parseCooperativeCode } from '../../domain/text.ts';
import type { CooperativeStore } from '../../store/ports.ts';
import { defaulting, optional, type ParsedBody, parseBody, required } from '../body-fields.ts';
import { choice, pastDate, plainText, textField, withSpaces } from '../fields.ts';
import { envelope, envelopeSchema, PAGE_PARAMETERS, toPageRequest } from '../list.ts';
import { created, JsonText, ok } from '../response.ts';
import { API_PREFIX, defineRoute, type Parameter, type Route, type RouteRequest } from '../route.ts';
import { integer, nullable, object, type Static, string } from '../schema.ts';
import { instant, plain, serializeObject, text } from '../serializer.ts';
import { COOPERATIVE_BODY_EXAMPLE, COOPERATIVE_EXAMPLE, pageExample } from './examples.ts';

export const COOPERATIVE_ID: Parameter = {
  description: "A cooperative's id; opaque.",
  schema: string({ pattern: ID.source }),
  example: '1',
};

const codeOf = (pattern: string) => string({ pattern, description: 'Unique: 1 to 32 of A-Z, 0-9 and "-".' });

/** One declaration per field: the body's check, the answer's schema and OpenAPI all come from it. */
const FIELDS = {
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

const BODY = {
  title: 'CooperativeBody',
  fields: {
    code: required(FIELDS.code),
    name: required(FIELDS.name),
    sector: optional(FIELDS.sector),
    province: optional(FIELDS.province),
    district: optional(FIELDS.district),
    registration_date: optional(FIELDS.registration_date),
    status: defaulting(FIELDS.status, 'active'),
  },
  example: COOPERATIVE_BODY_EXAMPLE,
};
/** The body of PUT: what GET gave can be changed and sent back. */
const UPDATE_BODY = {
  ...BODY,
  title: 'CooperativeUpdateBody',
  readOnly: ['id', 'members_count', 'created_at', 'updated_at'],
};
type Body = ParsedBody<typeof BODY.fields>;

const dateTime = (description: string) => string({ format: 'date-time', description });

export const COOPERATIVE = object(
  {
    id: string({ description: 'Opaque.' }),
    code: FIELDS.code.schema,
    name: FIELDS.name.schema,
    sector: nullable(FIELDS.sector.schema),
    province: nullable(FIELDS.province.schema),
    district: nullable(FIELDS.district.schema),
    registration_date: nullable(FIELDS.registration_date.schema),
    status: FIELDS.status.schema,
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

const serializeCooperative = serializeObject<Static<typeof COOPERATIVE>, Cooperative>({
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

/** @throws RegistryError `not_found` for what is not an id (docs/api.md#routes) */
export function readCooperativeId(request: RouteRequest): number {
  const id = parseId(request.params.id ?? '');
  if (id === undefined) throw notFound();
  return id;
}

const filter = <T>(description: string, schema: Parameter['schema'], parse: (value: string) => T) => ({
  description,
  schema,
  parse,
});

const LIST_QUERY = {
  ...PAGE_PARAMETERS,
  code: filter('Only the cooperative with this code.', string(), (value) => value),
  status: filter('Only those of this status.', FIELDS.status.schema, (value) =>
    parseChoice(value, COOPERATIVE_STATUSES),
  ),
  sector: filter('Only those of this sector.', FIELDS.sector.schema, (value) => parseChoice(value, SECTORS)),
  district: filter('Only those of this district.', string(), (value) => value),
};

export function cooperativeRoutes(store: CooperativeStore, clock: Clock, zone: TimeZone): Route[] {
  const toBody = (cooperative: Cooperative) => new JsonText(serializeCooperative(cooperative, zone));

  /** @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included */
  async function readValues(body: unknown, id?: number): Promise<CooperativeValues> {
    const declared = id === undefined ? BODY : UPDATE_BODY;
    const { values, faults } = parseBody(declared, body, { zone, nowSeconds: nowSeconds(clock) });
    if (!faults.isEmpty && values.code !== undefined) {
      faults.addAll(await store.conflicts({ code: values.code }, id));
    }
    faults.throwIfAny();
    return toValues(values as Body);
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/cooperatives',
      operationId: 'listCooperatives',
      summary: 'List cooperatives',
      tag: 'cooperatives',
      access: { scope: 'cooperatives:read' },
      query: LIST_QUERY,
      answers: {
        200: {
          description: 'One page of cooperatives.',
          schema: envelopeSchema(COOPERATIVE),
          example: pageExample('/cooperatives', COOPERATIVE_EXAMPLE),
        },
      },
      refusals: [400, 404],
      async handle(request) {
        const { page, page_size, ...filters } = request.query;
        const pageRequest = toPageRequest({ page, page_size });
        return envelope(
          request,
          pageRequest,
          await store.list(filters, pageRequest),
          serializeCooperative,
          zone,
        );
      },
    }),
    {
      method: 'POST',
      path: '/cooperatives',
      operationId: 'createCooperative',
      summary: 'Create a cooperative',
      tag: 'cooperatives',
      access: { scope: 'cooperatives:write' },
      body: BODY,
      answers: {
        201: { description: 'The new cooperative.', schema: COOPERATIVE, example: COOPERATIVE_EXAMPLE },
      },
      refusals: [400, 503],
      async handle(request) {
        const cooperative = await store.create(await readValues(request.body), nowSeconds(clock));
        return created(`${API_PREFIX}/cooperatives/${cooperative.id}`, toBody(cooperative));
      },
    },
    {
      method: 'GET',
      path: '/cooperatives/{id}',
      operationId: 'getCooperative',
      summary: 'Read a cooperative',
      tag: 'cooperatives',
      access: { scope: 'cooperatives:read' },
      params: { id: COOPERATIVE_ID },
      answers: {
        200: { description: 'The cooperative.', schema: COOPERATIVE, example: COOPERATIVE_EXAMPLE },
      },
      refusals: [400, 404],
      async handle(request) {
        const cooperative = await store.find(readCooperativeId(request));
        if (cooperative === undefined) throw notFound();
        return ok(toBody(cooperative));
      },
    },
    {
      method: 'PUT',
      path: '/cooperatives/{id}',
      operationId: 'updateCooperative',
      summary: 'Replace a cooperative',
      description: 'An omitted optional field becomes null or its default. Read-only fields are ignored.',
      tag: 'cooperatives',
      access: { scope: 'cooperatives:write' },
      params: { id: COOPERATIVE_ID },
      body: UPDATE_BODY,
      answers: {
        200: {
          description: 'The cooperative as it is now.',
          schema: COOPERATIVE,
          example: COOPERATIVE_EXAMPLE,
        },
      },
      refusals: [400, 404, 503],
      async handle(request) {
        const id = readCooperativeId(request);
        if ((await store.find(id)) === undefined) throw notFound();
        const values = await readValues(request.body, id);
        return ok(toBody(await store.update(id, () => values, nowSeconds(clock))));
      },
    },
  ];
}

const toValues = (body: Body): CooperativeValues => ({
  code: body.code,
  name: body.name,
  sector: body.sector,
  province: body.province,
  district: body.district,
  registrationDate: body.registration_date,
  status: body.status ?? 'active',
});
