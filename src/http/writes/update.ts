/** PUT and PATCH of one resource, from one declaration: they differ only in what a body leaves out. */

import type { Scope } from '../../domain/access/api-keys.ts';
import type { Visible } from '../../domain/access/visible.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { FieldErrorList, type FieldMessages, notFound } from '../../domain/values/errors.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type { Actor } from '../../store/ports/journal/history.ts';
import type { StoreOf } from '../../store/ports/registry.ts';
import { type BodyDeclaration, parseBody } from '../declare/body-fields.ts';
import type { Bodies } from '../declare/declared-bodies.ts';
import type { ApiResponse } from '../declare/response.ts';
import type { Route, RouteRequest } from '../declare/route.ts';
import { refuseWithout } from '../middleware/require-scope.ts';
import { actorOf } from './actor.ts';
import { type Representation, readIfMatch, taggedOk } from './preconditions.ts';

/** What a store of one kind of row offers to updates. */
interface UpdatedStore<Stored, Values, Beside extends readonly unknown[]> {
  find(id: number): Awaitable<Stored | undefined>;
  conflicts(values: Partial<Values>, exceptId?: number): Awaitable<FieldMessages>;
  update(
    id: number,
    decide: (stored: Stored, ...beside: Beside) => Values,
    nowSeconds: number,
    actor: Actor,
  ): Promise<Stored>;
}

interface Decision {
  /** Takes what is wrong with the values. */
  readonly faults: FieldErrorList;
  /** Epoch seconds. */
  readonly nowSeconds: number;
}

/** How a resource is updated. */
export interface Updating<Stored, Body, Values, Beside extends readonly unknown[] = []> {
  readonly storeOf: StoreOf<UpdatedStore<Stored, Values, Beside>>;
  readonly clock: Clock;
  readonly zone: TimeZone;
  /** @throws HttpError or RegistryError for what is not an id */
  readonly readId: (request: RouteRequest) => number;
  readonly represent: (stored: Stored) => Representation;
  /**
   * What is needed beside the row to decide, as it is now; inside the transaction the store gives it.
   * @throws RegistryError `not_found`
   */
  readonly findBeside: (stored: Stored, visible: Visible) => Awaitable<Beside>;
  /**
   * The values of a checked body, in which those of invalid fields are missing; adds what is wrong with them
   * together, or beside what is stored. With faults, only those values that may conflict with other rows.
   */
  readonly toValues: (
    body: Partial<Body>,
    stored: Stored,
    decision: Decision,
    ...beside: Beside
  ) => Partial<Values>;
}

/** Of resources whose rows say all that decides. */
export const NOTHING_BESIDE = (): [] => [];

/** What PUT and PATCH have in common, and what each has of its own. */
export interface UpdateDeclaration<Body>
  extends Pick<Route, 'path' | 'params' | 'responses' | 'refusals' | 'narrowed'> {
  /** Its scopes are called after it, too. */
  readonly tag: 'cooperatives' | 'members' | 'loans' | 'payments';
  readonly bodies: Pick<Bodies<Body>, 'put' | 'patch'>;
  readonly put: Pick<Route, 'operationId' | 'summary' | 'description'>;
  readonly patch: Pick<Route, 'operationId' | 'summary'>;
}

const PATCH_DESCRIPTION =
  'A JSON merge patch (RFC 7396): fields that are left out stay as they are, ' +
  'null clears one that may be null.';

/** @param updating of rows whose values have the names that they have in a checked body */
export function updateRoutes<Stored, Body, Values, Beside extends readonly unknown[] = []>(
  { bodies, put, patch, refusals = [], ...shared }: UpdateDeclaration<Body>,
  updating: Updating<Stored, Body, Values, Beside>,
): Route[] {
  const routeOf = (
    method: 'PUT' | 'PATCH',
    own: typeof put | typeof patch,
    body: BodyDeclaration<Body>,
  ): Route => ({
    description: PATCH_DESCRIPTION,
    ...shared,
    ...own,
    method,
    access: { scope: `${shared.tag}:write` },
    body,
    requestHeaders: ['If-Match'],
    refusals: [400, 404, ...refusals, 412, 503],
    handle: (request) => update(updating, body, request, `${shared.tag}:read`),
  });
  return [routeOf('PUT', put, bodies.put), routeOf('PATCH', patch, bodies.patch)];
}

async function update<Stored, Body, Values, Beside extends readonly unknown[]>(
  updating: Updating<Stored, Body, Values, Beside>,
  declared: BodyDeclaration<Body>,
  request: RouteRequest,
  readScope: Scope,
): Promise<ApiResponse> {
  const { clock, zone, readId, represent, findBeside, toValues } = updating;
  const { visible } = request;
  const store = updating.storeOf(visible);
  const id = readId(request);
  const requireMatch = readIfMatch(request, (stored: Stored) => represent(stored).tag);
  const stored = await store.find(id);
  if (stored === undefined) throw notFound();
  // Here as well: 412 comes before the faults of the body (RFC 9110, section 13.2.1).
  requireMatch(stored);
  const now = nowSeconds(clock);
  const { values: given, faults } = parseBody(declared, request.body, { zone, nowSeconds: now });
  const toDecided = (row: Stored, found: FieldErrorList, beside: Beside): Partial<Values> => {
    const body = declared.isPatch === true ? { ...row, ...given } : given;
    return toValues(body, row, { faults: found, nowSeconds: now }, ...beside);
  };
  const known = toDecided(stored, faults, await findBeside(stored, visible));
  if (!faults.isEmpty) faults.addAll(await store.conflicts(known, id));
  faults.throwIfAny();
  let before: Stored = stored;
  const decide = (current: Stored, ...beside: Beside): Values => {
    requireMatch(current);
    before = current;
    const later = new FieldErrorList();
    const values = toDecided(current, later, beside);
    later.throwIfAny();
    return values as Values;
  };
  const shown = represent(await store.update(id, decide, now, actorOf(request)));
  const mayRead = request.caller?.scopes.includes(readScope) === true;
  // Who may only write is shown what became of a change, and must not read by asking for none.
  return mayRead || represent(before).text !== shown.text ? taggedOk(shown) : refuseWithout(readScope);
}
