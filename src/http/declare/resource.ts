/**
 * Routes to list, create, read, replace and change rows, the check of bodies, the pages of lists
 * (docs/api.md#lists), and entity tags with the request headers that compare them
 * (docs/api.md#not-overwriting-each-other).
 */

import { hash } from 'node:crypto';
import type { Subject } from '../../access/access-ledger.ts';
import type { ApiKey, StoreOf, Visible } from '../../access/api-keys.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import type { Actor, EntityStore } from '../../sqlite/entity-store.ts';
import type { TimeZone } from '../../values/date-time.ts';
import type { FieldGroup, Fields, InputValues } from '../../values/declared-fields.ts';
import {
  type Awaitable,
  FieldError,
  FieldErrorList,
  ID,
  invalidFields,
  lastPage,
  NON_FIELD_ERRORS,
  notFound,
  type Page,
  type PageRequest,
  parseId,
  shownName,
  whenReady,
} from '../../values/errors.ts';
import { type FieldContext, type ShownProperties, shownObject } from '../../values/field-json.ts';
import { array, integer, nullable, object, type Schema, string } from '../../values/schema.ts';
import { quoteOrNull, type Serialize, serializeArray } from '../../values/serializer.ts';
import { DEFAULT_PAGE_SIZE, PAGE_PARAMETERS, type ParsedQuery, type QueryParameters } from './query.ts';
import { type Bodies, type BodyDeclaration, type BodyField, declareBodies } from './request-body.ts';
import {
  type ApiResponse,
  badRequest,
  HttpError,
  invalidPage,
  JsonText,
  ok,
  refuseWithout,
} from './response.ts';
import {
  API_PREFIX,
  type ApiRequest,
  type Creation,
  createWith,
  defineRoute,
  type Narrowing,
  type Parameter,
  type RequestHeader,
  type Route,
  type ShownRow,
  type SuccessResponse,
  showing,
} from './route.ts';

type ListRequest = Pick<ApiRequest<typeof PAGE_PARAMETERS>, 'search' | 'baseUrl' | 'path' | 'query'>;

/** @throws HttpError 404 if the page is not a number from 1, or is after the last page */
export function respondWithPage<T>(
  request: ListRequest,
  list: (page: PageRequest) => Awaitable<Page<T>>,
  serialize: Serialize<T>,
  zone: TimeZone,
  subjectOf?: ((rows: readonly T[]) => Subject) | undefined,
): Awaitable<ApiResponse> {
  const { page: number = 1, page_size: pageSize = DEFAULT_PAGE_SIZE } = request.query;
  if (!Number.isSafeInteger(number) || number < 1) throw invalidPage();
  return whenReady(list({ page: number, pageSize }), ({ count, rows }) => {
    const last = lastPage(count, pageSize);
    if (number > last) throw invalidPage();
    const next = number < last ? linkTo(request, number + 1) : null;
    const previous = number > 1 ? linkTo(request, number - 1) : null;
    const json =
      `{"count":${count},"next":${quoteOrNull(next)},"previous":${quoteOrNull(previous)},` +
      `"results":${serializeArray(rows, serialize, zone)}}`;
    return { ...ok(new JsonText(json)), subject: subjectOf?.(rows) };
  });
}

/** Page 1 has no `page` parameter, as in Django REST framework. */
function linkTo(request: ListRequest, number: number): string {
  const query = new URLSearchParams(request.search);
  if (number === 1) query.delete('page');
  else query.set('page', String(number));
  query.sort();
  const search = query.toString();
  return `${request.baseUrl}${request.path}${search === '' ? '' : `?${search}`}`;
}

/** @param rows plural noun @param row schema with a title */
export function pageResponse(rows: string, path: string, row: Schema): SuccessResponse {
  const url = `https://registry.example.rw/api/v1${path}`;
  return {
    description: `One page of ${rows}.`,
    schema: object(
      {
        count: integer({ minimum: 0, description: 'All rows of the list, exact.', examples: [150] }),
        next: nullable(string({ format: 'uri', examples: [`${url}?page=3`] })),
        previous: nullable(string({ format: 'uri', examples: [url] })),
        results: array(row),
      },
      { title: `${row.title}Page` },
    ),
  };
}

/** Only for routes that require a scope: their callers have an API key. */
export const actorOf = ({ caller }: Pick<ApiRequest, 'caller'>): Actor => `key:${(caller as ApiKey).id}`;

/** @throws RegistryError `not_found` for a malformed id (docs/api.md#routes) */
export function readPathId({ params }: Pick<ApiRequest, 'params'>): number {
  const id = parseId(params.id ?? '');
  if (id === undefined) throw notFound();
  return id;
}

interface Named {
  readonly tag: 'cooperatives' | 'members' | 'loans' | 'payments';
  readonly title: 'Cooperative' | 'Member' | 'Loan' | 'Payment';
  readonly narrowed: Narrowing;
}

/** A row of a list may have fewer properties than the resource itself. */
interface ListedResource<Row> extends Named {
  readonly description?: string;
  readonly schema: Schema;
  readonly serialize: Serialize<Row>;
  readonly groups: readonly FieldGroup[];
  /** Undefined if rows show no person. */
  readonly memberIdOf?: ((row: Row) => number) | undefined;
}

export interface Resource<Stored, Body> extends ListedResource<Stored> {
  readonly bodies: Bodies<Body>;
  readonly id: Parameter;
  /** @throws HttpError or RegistryError for a malformed id */
  readonly readId: (request: ApiRequest) => number;
  represent(stored: Stored, zone: TimeZone): Representation;
}

/** Returns further routes that read the rows of a resource, such as an export. */
export type MoreRoutes = (resource: ListedResource<never>, filters: QueryParameters) => readonly Route[];

interface ReadDependencies<Store> {
  readonly storeOf: StoreOf<Store>;
  readonly zone: TimeZone;
}

export interface ResourceDependencies<Store> extends ReadDependencies<Store> {
  readonly clock: Clock;
}

interface Declaration<Stored> extends Named {
  readonly properties: ShownProperties<Stored>;
  readonly memberIdOf?: (row: Stored) => number;
  readonly oneOf?: BodyDeclaration['oneOf'];
}

export function declareResource<Declared extends Fields, Stored>(
  fields: Declared,
  { tag, title, narrowed, properties, memberIdOf, oneOf }: Declaration<Stored>,
): Resource<Stored, InputValues<Declared>> {
  const shown = shownObject(title, properties);
  return {
    ...shown,
    tag,
    title,
    narrowed,
    memberIdOf,
    bodies: declareBodies(fields, { title, response: shown.schema, oneOf }),
    id: {
      description: `A ${title.toLowerCase()}'s id; opaque.`,
      schema: string({ pattern: ID.source }),
      example: '1',
    },
    readId: readPathId,
    represent: (stored, zone) => ({
      ...represent(shown.serialize(stored, zone)),
      subject: memberIdOf && { memberIds: [memberIdOf(stored)] },
    }),
  };
}

export const subjectOfRows = <Row>(memberIdOf: ((row: Row) => number) | undefined) =>
  memberIdOf && ((rows: readonly Row[]) => ({ memberIds: [...new Set(rows.map(memberIdOf))] }));

const subjectOfShown = ({ id, member }: ShownRow) => ({ memberIds: [Number((member ?? { id }).id)] });

const noun = ({ title }: Named): string => title.toLowerCase();

const responseOf = (resource: ListedResource<never>) =>
  taggedResponse(`The ${noun(resource)}.`, resource.schema);

export const listRoute = <Query extends QueryParameters, Filter, Row>(
  { tag, title, description, narrowed, schema, serialize, groups, memberIdOf }: ListedResource<Row>,
  query: Query,
  toFilter: (query: ParsedQuery<Query>) => Filter,
  { storeOf, zone }: ReadDependencies<Pick<EntityStore<unknown, unknown, Filter, Row>, 'list'>>,
): Route =>
  defineRoute({
    method: 'GET',
    path: `/${tag}`,
    operationId: `list${title}s`,
    summary: `List ${tag}`,
    description,
    tag,
    access: { scope: `${tag}:read` },
    narrowed,
    personal: showing('page', groups),
    query: { ...PAGE_PARAMETERS, ...query },
    responses: { 200: pageResponse(tag, `/${tag}`, schema) },
    refusals: [400, 404],
    handle(request) {
      const paged = request as ApiRequest<typeof PAGE_PARAMETERS>;
      const { page: _page, page_size: _size, ...filters } = paged.query;
      const list = (page: PageRequest) =>
        storeOf(request.visible).list(toFilter(filters as ParsedQuery<Query>), page);
      return respondWithPage(paged, list, serialize, zone, subjectOfRows(memberIdOf));
    },
  });

export const getRoute = <Stored>(
  resource: Resource<Stored, unknown>,
  { storeOf, zone }: ReadDependencies<Pick<EntityStore<Stored, unknown, unknown>, 'find'>>,
): Route => ({
  method: 'GET',
  path: `/${resource.tag}/{id}`,
  operationId: `get${resource.title}`,
  summary: `Read a ${noun(resource)}`,
  tag: resource.tag,
  access: { scope: `${resource.tag}:read` },
  narrowed: resource.narrowed,
  personal: showing('one', resource.groups),
  params: { id: resource.id },
  responses: { 200: responseOf(resource) },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404],
  async handle(request) {
    const stored = await storeOf(request.visible).find(resource.readId(request));
    if (stored === undefined) throw notFound();
    return readTagged(request, resource.represent(stored, zone));
  },
});

/** Context in which a body is converted to the values to store. */
export interface Decision {
  /** The conversion adds faults that depend on the stored row, or on several values together. */
  readonly faults: FieldErrorList;
  readonly nowSeconds: number;
}

interface Creating extends Pick<Creation<unknown>, 'showsOnlyItsRequest'> {
  readonly summary: string;
  readonly description?: string;
  readonly narrowed?: Narrowing;
}

/** @param toNew converts a checked body, without its invalid fields, to the arguments of the store */
export const createRoute = <
  Stored extends { readonly id: number },
  Body,
  New extends readonly [unknown, ...unknown[]],
>(
  resource: Resource<Stored, Body>,
  { showsOnlyItsRequest, ...creating }: Creating,
  toNew: (body: Partial<Body>, decision: Decision, visible: Visible) => Awaitable<New>,
  {
    storeOf,
    clock,
    zone,
  }: ResourceDependencies<Pick<EntityStore<Stored, Body, unknown, unknown, [], New>, 'conflicts' | 'create'>>,
): Route => ({
  method: 'POST',
  path: `/${resource.tag}`,
  operationId: `create${resource.title}`,
  tag: resource.tag,
  access: { scope: `${resource.tag}:write` },
  narrowed: resource.narrowed,
  personal: showing('one', resource.groups),
  ...creating,
  body: resource.bodies.post,
  responses: { 201: responseOf(resource) },
  refusals: [400, 503],
  creation: createWith<Stored>({
    showsOnlyItsRequest,
    subjectOf: resource.memberIdOf && subjectOfShown,
    async create(request, keep) {
      const { visible, body } = request;
      const store = storeOf(visible);
      const now = nowSeconds(clock);
      const { values, faults } = parseBody(resource.bodies.post, body, { zone, nowSeconds: now });
      const row = await toNew(values, { faults, nowSeconds: now }, visible);
      if (!faults.isEmpty) faults.addAll(store.conflicts(values));
      faults.throwIfAny();
      return store.create(...row, now, actorOf(request), keep);
    },
    respond: (stored) =>
      taggedCreated(`${API_PREFIX}/${resource.tag}/${stored.id}`, resource.represent(stored, zone)),
  }),
});

// PUT and PATCH of a row. They differ only in the fields that a body must have.

interface Changing {
  readonly put: { readonly summary?: string; readonly description: string };
  readonly patch?: { readonly summary: string };
  readonly refusals?: Route['refusals'];
}

interface Deciding<Stored, Body, Values, Beside extends readonly unknown[]> {
  /**
   * Converts a checked body, without its invalid fields, to values. If there are faults, some values may be
   * missing; the store then checks only the present values for conflicts.
   */
  readonly toValues: (
    body: Partial<Body>,
    stored: Stored,
    decision: Decision,
    ...beside: Beside
  ) => Partial<Values>;
  /**
   * Finds further rows on which the values depend. Inside the transaction, the store finds these rows itself.
   * @throws RegistryError `not_found`
   */
  readonly findBeside?: (stored: Stored, visible: Visible) => Awaitable<Beside>;
}

type ChangedStore<Stored, Values, Beside extends readonly unknown[]> = Pick<
  EntityStore<Stored, Values, unknown, unknown, Beside>,
  'find' | 'conflicts' | 'update'
>;

/**
 * @returns the faults, and the values of valid fields. A field that PATCH or PUT omits has no value, so its
 *   stored value stays. A field that POST omits is null, its fallback or undefined. POST has no `readOnly`.
 * @throws RegistryError `invalid` if the body is not an object
 */
export function parseBody<Body>(
  { fields, readOnly = [], isPatch = false, patch }: BodyDeclaration<Body>,
  body: unknown,
  context: FieldContext,
): { values: Partial<Body>; faults: FieldErrorList } {
  const faults = new FieldErrorList();
  const submitted = requireObject(body);
  const values: { [property: string]: unknown } = {};
  const accepted = new Set(readOnly);
  for (const [property, field] of Object.entries(fields)) {
    const { name } = field;
    accepted.add(name);
    const isSubmitted = Object.hasOwn(submitted, name);
    if (!isSubmitted && (isPatch || (patch !== undefined && field.presence !== 'required'))) continue;
    const parsed = parseField(field, isSubmitted ? submitted[name] : undefined, context);
    if (parsed instanceof FieldError) faults.add(name, parsed.message);
    else values[property] = parsed;
  }
  for (const name of Object.keys(submitted))
    if (!accepted.has(name)) faults.add(shownName(name), 'Unknown field.');
  return { values: values as Partial<Body>, faults };
}

function parseField(field: BodyField, value: unknown, context: FieldContext): unknown {
  if (value === undefined) {
    if (field.presence === 'required') return new FieldError('This field is required.');
    return field.presence === 'nullable' ? null : field.fallback;
  }
  if (value === null)
    return field.presence === 'nullable' ? null : new FieldError('This field may not be null.');
  return field.parse(value, context);
}

function requireObject(body: unknown): { [name: string]: unknown } {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as { [name: string]: unknown };
  const message =
    body === null ? 'No data provided' : `Invalid data. Expected a dictionary, but got ${typeName(body)}.`;
  throw invalidFields({ [NON_FIELD_ERRORS]: [message] });
}

/** Returns the name of the value's type in the words of Django REST framework. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  return Number.isInteger(value) ? 'int' : 'float';
}

const MERGE_PATCH =
  'A JSON merge patch (RFC 7396): fields that are left out stay as they are, ' +
  'null clears one that may be null.';

export const changeRoutes = <Stored, Body, Values, Beside extends readonly unknown[] = []>(
  resource: Resource<Stored, Body>,
  { put, patch, refusals = [] }: Changing,
  deciding: Deciding<Stored, Body, Values, Beside>,
  dependencies: ResourceDependencies<ChangedStore<Stored, Values, Beside>>,
): Route[] => {
  const { tag, title, narrowed, groups, id, bodies } = resource;
  const routeOf = (body: BodyDeclaration<Body>) => ({
    path: `/${tag}/{id}`,
    tag,
    access: { scope: `${tag}:write` } as const,
    narrowed,
    personal: showing('one', groups),
    params: { id },
    body,
    requestHeaders: ['If-Match'] as const,
    responses: { 200: responseOf(resource) },
    refusals: [400, 404, ...refusals, 412, 503] as const,
    handle: (request: ApiRequest) => update(request, body, resource, deciding, dependencies),
  });
  return [
    {
      method: 'PUT',
      operationId: `update${title}`,
      summary: `Replace a ${noun(resource)}`,
      ...put,
      ...routeOf(bodies.put),
    },
    {
      method: 'PATCH',
      operationId: `patch${title}`,
      summary: `Change fields of a ${noun(resource)}`,
      description: MERGE_PATCH,
      ...patch,
      ...routeOf(bodies.patch),
    },
  ];
};

async function update<Stored, Body, Values, Beside extends readonly unknown[]>(
  request: ApiRequest,
  declared: BodyDeclaration<Body>,
  resource: Resource<Stored, Body>,
  { toValues, findBeside }: Deciding<Stored, Body, Values, Beside>,
  { storeOf, clock, zone }: ResourceDependencies<ChangedStore<Stored, Values, Beside>>,
): Promise<ApiResponse> {
  const { visible, caller } = request;
  const id = resource.readId(request);
  const store = storeOf(visible);
  const requireMatch = readIfMatch(request, (stored: Stored) => resource.represent(stored, zone).tag);
  const stored = await store.find(id);
  if (stored === undefined) throw notFound();
  // Checked before the body, because status 412 precedes faults of the body (RFC 9110, section 13.2.1).
  requireMatch(stored);
  const now = nowSeconds(clock);
  const { values: bodyValues, faults } = parseBody(declared, request.body, { zone, nowSeconds: now });
  const decideOn = (row: Stored, list: FieldErrorList, beside: Beside): Partial<Values> =>
    toValues({ ...row, ...bodyValues }, row, { faults: list, nowSeconds: now }, ...beside);
  const beside = ((await findBeside?.(stored, visible)) ?? []) as Beside;
  const values = decideOn(stored, faults, beside);
  if (!faults.isEmpty) faults.addAll(store.conflicts(values, id));
  faults.throwIfAny();
  let before: Stored = stored;
  const decide = (current: Stored, ...besideNow: Beside): Values => {
    requireMatch(current);
    before = current;
    const later = new FieldErrorList();
    const decided = decideOn(current, later, besideNow);
    later.throwIfAny();
    return decided as Values;
  };
  const after = resource.represent(await store.update(id, decide, now, actorOf(request)), zone);
  // A key that may only write sees the result of its change, but must not read a row by a request that
  // changes nothing.
  const readScope = `${resource.tag}:read` as const;
  const mayShow =
    caller?.scopes.includes(readScope) === true || resource.represent(before, zone).text !== after.text;
  return mayShow ? taggedOk(after) : refuseWithout(readScope);
}

interface Representation {
  readonly text: string;
  /** Strong entity tag, which changes whenever the text changes. */
  readonly tag: string;
  readonly subject?: Subject | undefined;
}

/** Keeps 132 bits of the hash. */
const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

export const represent = (text: string): Representation => ({ text, tag: `"${digest(text)}"` });

/**
 * Represents a resource with a count that can change without a write of the resource. Therefore the tag has
 * two parts: If-None-Match compares both parts, If-Match only the first part.
 * @param values the text with a constant instead of the count
 */
export const representCounted = (text: string, values: string, count: number): Representation => ({
  text,
  tag: `"${digest(values)}.${count}"`,
});

const taggedResponse = (description: string, schema: Schema): SuccessResponse => ({
  description,
  schema,
  headers: { ETag: 'required' },
});

const taggedOk = ({ text, tag, subject }: Representation): ApiResponse => ({
  ...ok(new JsonText(text)),
  subject,
  headers: { ETag: tag },
});

const taggedCreated = (path: string, { text, tag, subject }: Representation): ApiResponse => ({
  status: 201,
  body: new JsonText(text),
  subject,
  headers: { Location: path, ETag: tag },
});

/**
 * @returns status 304 without a body if If-None-Match names the current tag (RFC 9110, section 13.1.2)
 * @throws HttpError 400 for a malformed If-None-Match
 */
export function readTagged(request: Pick<ApiRequest, 'incoming'>, current: Representation): ApiResponse {
  const tags = readTags(request, 'If-None-Match');
  // Weak comparison, which ignores the W/ of a weak tag.
  const isKnown = tags === '*' || tags?.some((tag) => tag.replace(/^W\//, '') === current.tag) === true;
  return isKnown
    ? { status: 304, body: undefined, headers: { ETag: current.tag }, subject: current.subject }
    : taggedOk(current);
}

/**
 * Reads If-Match (RFC 9110, section 13.1.1).
 * @returns a function that throws HttpError 412 if the header is present and lacks the tag of the given row
 * @throws HttpError 400 for a malformed header
 */
function readIfMatch<T>(
  request: Pick<ApiRequest, 'incoming'>,
  toTag: (stored: T) => string,
): (stored: T) => void {
  const tags = readTags(request, 'If-Match');
  if (tags === undefined || tags === '*') return () => {};
  // A weak tag begins with W, so it never equals a strong tag.
  const allowed = tags.map(firstPart);
  return (stored) => {
    if (!allowed.includes(firstPart(toTag(stored))))
      throw new HttpError(412, 'The resource has changed since it was read.');
  };
}

/** Removes the count from a tag of `representCounted`. */
const firstPart = (tag: string): string => tag.replace(/\.[0-9]+"$/, '"');

const ONE_TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
const TAGS = new RegExp(`^[ \\t,]*${ONE_TAG}(?:[ \\t]*,[ \\t,]*${ONE_TAG})*[ \\t,]*$`);

/** @throws HttpError 400 */
function readTags(
  { incoming }: Pick<ApiRequest, 'incoming'>,
  name: RequestHeader,
): '*' | readonly string[] | undefined {
  const header = incoming.headers[name.toLowerCase()];
  if (header === undefined) return undefined;
  const text = String(header).trim();
  if (text === '*') return text;
  if (!TAGS.test(text)) throw badRequest(`Expected * or entity tags in quotes in ${name}.`);
  return text.match(new RegExp(ONE_TAG, 'g')) ?? [];
}
