/** The routes that resources have in common: one is listed, created, read, replaced and changed. */
import type { Visible } from '../../domain/access/visible.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import type { Fields, GivenValues } from '../../domain/values/declared-fields.ts';
import { notFound } from '../../domain/values/errors.ts';
import type { Page, PageRequest } from '../../domain/values/page.ts';
import { type ShownProperties, shownObject } from '../../json/declared-fields.ts';
import type { Schema } from '../../json/schema.ts';
import type { Serialize } from '../../json/serializer.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type { ResponseToKeep } from '../../store/ports/idempotent-responses.ts';
import type { Actor } from '../../store/ports/journal/history.ts';
import type { StoreOf } from '../../store/ports/registry.ts';
import type { BodyDeclaration } from '../declare/body-fields.ts';
import { type Bodies, declareBodies } from '../declare/declared-bodies.ts';
import { envelope, PAGE_PARAMETERS, pageResponse, toPageRequest } from '../declare/list.ts';
import type { Narrowing } from '../declare/narrowing.ts';
import { pathId, readPathId } from '../declare/path-id.ts';
import type { ParsedQuery, QueryParameters } from '../declare/query.ts';
import { API_PREFIX, createWith, defineRoute, type Parameter, type Route } from '../declare/route.ts';
import { actorOf } from '../writes/actor.ts';
import {
  type Representation,
  readTagged,
  represent,
  taggedCreated,
  taggedResponse,
} from '../writes/preconditions.ts';
import { NOTHING_BESIDE, type Updating, updateRoutes } from '../writes/update.ts';

interface Named {
  /** Its paths and scopes are called after it. */
  readonly tag: 'cooperatives' | 'members' | 'loans' | 'payments';
  /** Its schema and operations are called after it. */
  readonly title: 'Cooperative' | 'Member' | 'Loan' | 'Payment';
  readonly narrowed: Narrowing;
  /** Of a response. */
  readonly example: object;
}

export interface Resource<Stored, Body> extends Named {
  readonly schema: Schema;
  readonly serialize: Serialize<Stored>;
  readonly bodies: Bodies<Body>;
  readonly id: Parameter;
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
  readonly oneOf?: BodyDeclaration['oneOf'];
  readonly examples: {
    readonly body: BodyDeclaration['example'];
    readonly patch: BodyDeclaration['example'];
  };
}

/** @param fields whose values bodies give */
export function declareResource<Declared extends Fields, Stored>(
  fields: Declared,
  { tag, title, narrowed, example, properties, oneOf, examples }: Declaration<Stored>,
): Resource<Stored, GivenValues<Declared>> {
  const { schema, serialize } = shownObject(title, properties);
  return {
    tag,
    title,
    narrowed,
    example,
    schema,
    serialize,
    bodies: declareBodies(fields, { title, response: schema, oneOf, examples }),
    id: pathId(`A ${title.toLowerCase()}'s id; opaque.`),
    represent: (stored, zone) => represent(serialize(stored, zone)),
  };
}

const noun = ({ title }: Pick<Named, 'title'>): string => title.toLowerCase();

/** One of the resource. */
const responseOf = (resource: Pick<Resource<never, unknown>, 'title' | 'schema' | 'example'>) =>
  taggedResponse(`The ${noun(resource)}.`, resource.schema, resource.example);

/** @param toFilter gives the filter of the store from the query */
export const listRoute = <Query extends QueryParameters, Filter, Stored>(
  { tag, title, narrowed, schema, example, serialize }: Resource<Stored, unknown>,
  query: Query,
  toFilter: (query: ParsedQuery<Query>) => Filter,
  { storeOf, zone }: Reading<{ list(filter: Filter, page: PageRequest): Awaitable<Page<Stored>> }>,
): Route =>
  defineRoute({
    method: 'GET',
    path: `/${tag}`,
    operationId: `list${title}s`,
    summary: `List ${tag}`,
    tag,
    access: { scope: `${tag}:read` },
    narrowed,
    query: { ...PAGE_PARAMETERS, ...query },
    responses: { 200: pageResponse(tag, `/${tag}`, schema, example) },
    refusals: [400, 404],
    async handle(request) {
      const { page, page_size, ...filters } = request.query as ParsedQuery<typeof PAGE_PARAMETERS>;
      const pageRequest = toPageRequest({ page, page_size });
      const found = await storeOf(request.visible).list(toFilter(filters as ParsedQuery<Query>), pageRequest);
      return envelope(request, pageRequest, found, serialize, zone);
    },
  });

/**
 * Adds the row of a body.
 * @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included
 */
type Create<Stored> = (
  visible: Visible,
  body: unknown,
  nowSeconds: number,
  actor: Actor,
  keep: ResponseToKeep<Stored> | undefined,
) => Promise<Stored>;

export const createRoute = <Stored extends { readonly id: number }>(
  resource: Resource<Stored, unknown>,
  own: Pick<Route, 'summary' | 'description'> & Partial<Pick<Route, 'narrowed'>>,
  { clock, zone }: Pick<ResourceDependencies<unknown>, 'clock' | 'zone'>,
  create: Create<Stored>,
): Route => ({
  method: 'POST',
  path: `/${resource.tag}`,
  operationId: `create${resource.title}`,
  tag: resource.tag,
  access: { scope: `${resource.tag}:write` },
  narrowed: resource.narrowed,
  ...own,
  body: resource.bodies.post,
  responses: { 201: responseOf(resource) },
  refusals: [400, 503],
  creation: createWith<Stored>({
    create: (request, keep) =>
      create(request.visible, request.body, nowSeconds(clock), actorOf(request), keep),
    respond: (stored) =>
      taggedCreated(`${API_PREFIX}/${resource.tag}/${stored.id}`, resource.represent(stored, zone)),
  }),
});

export const getRoute = <Stored>(
  resource: Resource<Stored, unknown>,
  { storeOf, zone }: Reading<{ find(id: number): Awaitable<Stored | undefined> }>,
): Route => ({
  method: 'GET',
  path: `/${resource.tag}/{id}`,
  operationId: `get${resource.title}`,
  summary: `Read a ${noun(resource)}`,
  tag: resource.tag,
  access: { scope: `${resource.tag}:read` },
  narrowed: resource.narrowed,
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

type OwnUpdating<Stored, Body, Values, Beside extends readonly unknown[]> = Pick<
  Updating<Stored, Body, Values, Beside>,
  'toValues'
> &
  Partial<Pick<Updating<Stored, Body, Values, Beside>, 'readId' | 'findBeside'>>;

/** PUT and PATCH. @param updating `findBeside` where the row does not say all that decides */
export const changeRoutes = <Stored, Body, Values, Beside extends readonly unknown[] = []>(
  resource: Resource<Stored, Body>,
  { put, patch, refusals = [] }: Changing,
  updating: OwnUpdating<Stored, Body, Values, Beside>,
  {
    storeOf,
    clock,
    zone,
  }: ResourceDependencies<ReturnType<Updating<Stored, Body, Values, Beside>['storeOf']>>,
): Route[] => {
  const { tag, title, narrowed, id, bodies } = resource;
  return updateRoutes<Stored, Body, Values, Beside>(
    {
      path: `/${tag}/{id}`,
      tag,
      narrowed,
      params: { id },
      refusals,
      bodies,
      put: { operationId: `update${title}`, summary: `Replace a ${noun(resource)}`, ...put },
      patch: { operationId: `patch${title}`, summary: `Change fields of a ${noun(resource)}`, ...patch },
      responses: { 200: responseOf(resource) },
    },
    {
      storeOf,
      clock,
      zone,
      readId: readPathId,
      represent: (stored) => resource.represent(stored, zone),
      findBeside: NOTHING_BESIDE as unknown as Updating<Stored, Body, Values, Beside>['findBeside'],
      ...updating,
    },
  );
};
