/** PUT and PATCH of one row: they differ only in what a body must have. */

import type { Scope } from '../../domain/access/api-keys.ts';
import type { Visible } from '../../domain/access/visible.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { FieldErrorList, notFound } from '../../domain/values/errors.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type { EntityStore } from '../../store/contract/entity-store.ts';
import type { StoreOf } from '../../store/contract/registry.ts';
import { type BodyDeclaration, parseBody } from '../declare/parse-body.ts';
import type { ApiResponse } from '../declare/response.ts';
import type { RouteRequest } from '../declare/route.ts';
import { refuseWithout } from '../middleware/require-scope.ts';
import { actorOf } from './actor.ts';
import { type Representation, readIfMatch, taggedOk } from './preconditions.ts';

/** What updates take of a store. */
export type UpdatedStore<Row, Values, Beside extends readonly unknown[]> = Pick<
  EntityStore<Row, Values, unknown, unknown, Beside>,
  'find' | 'conflicts' | 'update'
>;

export interface Decision {
  /** Takes what is wrong with the values. */
  readonly faults: FieldErrorList;
  /** Epoch seconds. */
  readonly nowSeconds: number;
}

/** How the body of a resource becomes values. */
export interface Deciding<Stored, Body, Values, Beside extends readonly unknown[] = []> {
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
  /**
   * What is needed beside the row to decide, as it is now; inside the transaction the store gives it.
   * Undefined where the row says all that decides.
   * @throws RegistryError `not_found`
   */
  readonly findBeside?: (stored: Stored, visible: Visible) => Awaitable<Beside>;
}

interface Updating<Stored, Body, Values, Beside extends readonly unknown[]>
  extends Deciding<Stored, Body, Values, Beside> {
  readonly storeOf: StoreOf<UpdatedStore<Stored, Values, Beside>>;
  readonly clock: Clock;
  readonly zone: TimeZone;
  readonly represent: (stored: Stored) => Representation;
  /** Of who may be shown a row that did not change. */
  readonly readScope: Scope;
}

/** @param id of the row */
export async function update<Stored, Body, Values, Beside extends readonly unknown[]>(
  id: number,
  declared: BodyDeclaration<Body>,
  request: RouteRequest,
  updating: Updating<Stored, Body, Values, Beside>,
): Promise<ApiResponse> {
  const { storeOf, clock, zone, represent, readScope, toValues, findBeside } = updating;
  const { visible } = request;
  const store = storeOf(visible);
  const requireMatch = readIfMatch(request, (stored: Stored) => represent(stored).tag);
  const stored = await store.find(id);
  if (stored === undefined) throw notFound();
  // Here as well: 412 comes before the faults of the body (RFC 9110, section 13.2.1).
  requireMatch(stored);
  const now = nowSeconds(clock);
  const { values: given, faults } = parseBody(declared, request.body, { zone, nowSeconds: now });
  const toDecided = (row: Stored, found: FieldErrorList, beside: Beside): Partial<Values> => {
    return toValues({ ...row, ...given }, row, { faults: found, nowSeconds: now }, ...beside);
  };
  const beside = ((await findBeside?.(stored, visible)) ?? []) as Beside;
  const known = toDecided(stored, faults, beside);
  if (!faults.isEmpty) faults.addAll(store.conflicts(known, id));
  faults.throwIfAny();
  let before: Stored = stored;
  const decide = (current: Stored, ...besideNow: Beside): Values => {
    requireMatch(current);
    before = current;
    const later = new FieldErrorList();
    const values = toDecided(current, later, besideNow);
    later.throwIfAny();
    return values as Values;
  };
  const shown = represent(await store.update(id, decide, now, actorOf(request)));
  const mayRead = request.caller?.scopes.includes(readScope) === true;
  // Who may only write is shown what became of a change, and must not read by asking for none.
  return mayRead || represent(before).text !== shown.text ? taggedOk(shown) : refuseWithout(readScope);
}
