/** The routes that resources have in common: one is listed, created, read, replaced and changed. */
import type { Visible } from '../../domain/access/visible.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import type { FieldGroup, Fields, GivenValues } from '../../domain/values/declared-fields.ts';
import { notFound } from '../../domain/values/errors.ts';
import type { PageRequest } from '../../domain/values/page.ts';
import { type ShownProperties, shownObject } from '../../json/declared-fields.ts';
import type { Schema } from '../../json/schema.ts';
import type { Serialize } from '../../json/serializer.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type { EntityStore } from '../../store/contract/entity-store.ts';
import type { StoreOf } from '../../store/contract/registry.ts';
import { type Bodies, declareBodies } from '../declare/declared-bodies.ts';
import { PAGE_PARAMETERS, pageResponse, respondWithPage } from '../declare/list.ts';
import type { Narrowing } from '../declare/narrowing.ts';
import { type BodyDeclaration, parseBody } from '../declare/parse-body.ts';
import { pathId, readPathId } from '../declare/path-id.ts';
import { showing } from '../declare/personal.ts';
import type { ParsedQuery, QueryParameters } from '../declare/query.ts';
import {
  API_PREFIX,
  type Creation,
  createWith,
  defineRoute,
  type Parameter,
  type Route,
  type RouteRequest,
  type ShownRow,
} from '../declare/route.ts';
import { actorOf } from '../writes/actor.ts';
import {
  type Representation,
  readTagged,
  represent,
  taggedCreated,
  taggedResponse,
} from '../writes/preconditions.ts';
import { type Deciding, type Decision, type UpdatedStore, update } from '../writes/update.ts';

interface Named {
  /** Its paths and scopes are called after it. */
  readonly tag: 'cooperatives' | 'members' | 'loans' | 'payments';
  /** Its schema and operations are called after it. */
  readonly title: 'Cooperative' | 'Member' | 'Loan' | 'Payment';
  readonly narrowed: Narrowing;
}

export interface Resource<Stored, Body> extends Named {
  readonly schema: Schema;
  readonly serialize: Serialize<Stored>;
  /** What responses show of persons. */
  readonly groups: readonly FieldGroup[];
  /** The member that a row shows; undefined where rows show nobody. */
  readonly memberIdOf?: ((row: Stored) => number) | undefined;
  readonly bodies: Bodies<Body>;
  readonly id: Parameter;
  /** @throws HttpError or RegistryError for what is not an id */
  readonly readId: (request: RouteRequest) => number;
  represent(stored: Stored, zone: TimeZone): Representation;
}

/** What the routes of a resource need. */
export interface ResourceDependencies<Store> {
  readonly storeOf: StoreOf<Store>;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

type Reading<Store> = Pick<ResourceDependencies<Store>, 'storeOf' | 'zone'>;

interface Declaration<Stored> extends Named {
  readonly properties: ShownProperties<Stored>;
  readonly memberIdOf?: (row: Stored) => number;
  readonly oneOf?: BodyDeclaration['oneOf'];
}

/** @param fields whose values bodies give */
export function declareResource<Declared extends Fields, Stored>(
  fields: Declared,
  { tag, title, narrowed, properties, memberIdOf, oneOf }: Declaration<Stored>,
): Resource<Stored, GivenValues<Declared>> {
  const { schema, serialize, groups } = shownObject(title, properties);
  const subjectOf = subjectOfRows(memberIdOf);
  return {
    tag,
    title,
    narrowed,
    schema,
    serialize,
    groups,
    memberIdOf,
    bodies: declareBodies(fields, { title, response: schema, oneOf }),
    id: pathId(`A ${title.toLowerCase()}'s id; opaque.`),
    readId: readPathId,
    represent: (stored, zone) => ({
      ...represent(serialize(stored, zone)),
      subject: subjectOf?.([stored]),
    }),
  };
}

/** What says whom rows show. */
export const subjectOfRows = <Row>(memberIdOf: ((row: Row) => number) | undefined) =>
  memberIdOf && ((rows: readonly Row[]) => ({ memberIds: [...new Set(rows.map(memberIdOf))] }));

const subjectOfShown = ({ id, member }: ShownRow) => ({ memberIds: [Number((member ?? { id }).id)] });

const noun = ({ title }: Pick<Named, 'title'>): string => title.toLowerCase();

/** One of the resource. */
const responseOf = (resource: Pick<Resource<never, unknown>, 'title' | 'schema'>) =>
  taggedResponse(`The ${noun(resource)}.`, resource.schema);

/** What a list shows of a resource: all of it, or less. */
type Listed<Row> = Pick<
  Resource<Row, unknown>,
  'tag' | 'title' | 'narrowed' | 'schema' | 'serialize' | 'groups' | 'memberIdOf'
> &
  Pick<Route, 'description'>;

/** @param toFilter gives the filter of the store from the query */
export const listRoute = <Query extends QueryParameters, Filter, Row>(
  { tag, title, description, narrowed, schema, serialize, groups, memberIdOf }: Listed<Row>,
  query: Query,
  toFilter: (query: ParsedQuery<Query>) => Filter,
  { storeOf, zone }: Reading<Pick<EntityStore<unknown, unknown, Filter, Row>, 'list'>>,
): Route =>
  defineRoute({
    method: 'GET',
    path: `/${tag}`,
    operationId: `list${title}s`,
    summary: `List ${tag}`,
    ...(description === undefined ? {} : { description }),
    tag,
    access: { scope: `${tag}:read` },
    narrowed,
    personal: showing('page', groups),
    query: { ...PAGE_PARAMETERS, ...query },
    responses: { 200: pageResponse(tag, `/${tag}`, schema) },
    refusals: [400, 404],
    handle(request) {
      const paged = request as RouteRequest<typeof PAGE_PARAMETERS>;
      const { page: _page, page_size: _size, ...filters } = paged.query;
      const list = (asked: PageRequest) =>
        storeOf(request.visible).list(toFilter(filters as ParsedQuery<Query>), asked);
      return respondWithPage(paged, list, serialize, zone, subjectOfRows(memberIdOf));
    },
  });

/**
 * @param toNew what the store adds a row from, by a checked body in which the values of invalid fields are
 * missing; adds what is wrong with them together
 */
export const createRoute = <
  Stored extends { readonly id: number },
  Body,
  New extends readonly [unknown, ...unknown[]],
>(
  resource: Resource<Stored, Body>,
  {
    showsOnlyItsRequest,
    ...own
  }: Pick<Route, 'summary' | 'description'> &
    Partial<Pick<Route, 'narrowed'>> &
    Pick<Creation<Stored>, 'showsOnlyItsRequest'>,
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
  ...own,
  body: resource.bodies.post,
  responses: { 201: responseOf(resource) },
  refusals: [400, 503],
  creation: createWith<Stored>({
    showsOnlyItsRequest,
    subjectOf: resource.memberIdOf && subjectOfShown,
    async create({ visible, body, caller }, keep) {
      const store = storeOf(visible);
      const now = nowSeconds(clock);
      const { values, faults } = parseBody(resource.bodies.post, body, { zone, nowSeconds: now });
      const row = await toNew(values, { faults, nowSeconds: now }, visible);
      if (!faults.isEmpty) faults.addAll(store.conflicts(values));
      faults.throwIfAny();
      return store.create(...row, now, actorOf({ caller }), keep);
    },
    respond: (stored) =>
      taggedCreated(`${API_PREFIX}/${resource.tag}/${stored.id}`, resource.represent(stored, zone)),
  }),
});

export const getRoute = <Stored>(
  resource: Resource<Stored, unknown>,
  { storeOf, zone }: Reading<Pick<EntityStore<Stored, unknown, unknown>, 'find'>>,
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
    const stored = await storeOf(request.visible).find(readPathId(request));
    if (stored === undefined) throw notFound();
    return readTagged(request, resource.represent(stored, zone));
  },
});

interface Changing {
  readonly put: Pick<Route, 'description'> & Partial<Pick<Route, 'summary'>>;
  readonly patch?: Pick<Route, 'summary'>;
  readonly refusals?: Route['refusals'];
}

type Own = Pick<Route, 'operationId' | 'summary' | 'description'>;

const MERGE_PATCH =
  'A JSON merge patch (RFC 7396): fields that are left out stay as they are, ' +
  'null clears one that may be null.';

/** PUT and PATCH. */
export const changeRoutes = <Stored, Body, Values, Beside extends readonly unknown[] = []>(
  resource: Resource<Stored, Body>,
  { put, patch, refusals = [] }: Changing,
  deciding: Deciding<Stored, Body, Values, Beside>,
  { storeOf, clock, zone }: ResourceDependencies<UpdatedStore<Stored, Values, Beside>>,
): Route[] => {
  const { tag, title, narrowed, groups, id, bodies } = resource;
  const represented = (stored: Stored) => resource.represent(stored, zone);
  const shown = { represent: represented, readScope: `${tag}:read` } as const;
  const updating = { ...deciding, ...shown, storeOf, clock, zone };
  const routeOf = (method: 'PUT' | 'PATCH', own: Own, body: BodyDeclaration<Body>): Route => ({
    ...own,
    method,
    path: `/${tag}/{id}`,
    tag,
    access: { scope: `${tag}:write` },
    narrowed,
    personal: showing('one', groups),
    params: { id },
    body,
    requestHeaders: ['If-Match'],
    responses: { 200: responseOf(resource) },
    refusals: [400, 404, ...refusals, 412, 503],
    handle: (request) => update(resource.readId(request), body, request, updating),
  });
  const [toReplace, toChange] = [`Replace a ${noun(resource)}`, `Change fields of a ${noun(resource)}`];
  const replacing = { operationId: `update${title}`, summary: toReplace, ...put };
  const changing = { operationId: `patch${title}`, summary: toChange, description: MERGE_PATCH, ...patch };
  return [routeOf('PUT', replacing, bodies.put), routeOf('PATCH', changing, bodies.patch)];
};
