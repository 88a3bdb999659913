/** The data subjects of a response, and the purpose and end user that a client states (docs/ledger.md). */
import type { IncomingMessage } from 'node:http';
import type { AccessRecord, Subject } from '../../access/access-ledger.ts';
import { parseStated } from '../../access/api-keys.ts';
import type { FieldGroup } from '../../values/declared-fields.ts';
import { FieldError, IS_MEMBER, NON_FIELD_ERRORS } from '../../values/errors.ts';
import { isIdentityCard } from '../../values/identity-card.ts';
import { type ApiResponse, badRequest } from './response.ts';
import { type Creation, fullPath, type Personal, type Route, type RouteRequest } from './route.ts';

/** Derives a route's `personal` declaration from the groups of fields that its responses show. */
export const showing = (
  persons: Exclude<Personal, 'none'>['persons'],
  fields: readonly FieldGroup[],
): Personal => (fields.length === 0 ? 'none' : { persons, fields });

type Asking = Pick<RouteRequest, 'params' | 'query'> & { readonly body?: unknown };

/** Returns the national ID that a request names in its path or query. */
function askedIdentityCard({ params, query }: Asking): string | undefined {
  for (const name in params) if (isIdentityCard(params[name] as string)) return params[name];
  const { identity_card: filter } = query;
  return typeof filter === 'string' ? filter : undefined;
}

/**
 * Returns the data subjects to record before a response leaves.
 * @returns undefined for a response that shows no person
 * @throws Error for a response that shows persons without naming them: it must not leave
 */
export function subjectOf(
  route: Route | undefined,
  request: Asking,
  { status, subject, body }: ApiResponse,
): Subject | undefined {
  if (route === undefined || route.personal === 'none') return undefined;
  if (status === 201 && route.method === 'POST' && showsOnlyItsRequest(route.creation, request))
    return undefined;
  const isNotFound = status === 404;
  if (status >= 400 && !isNotFound) return subjectOfRefusal(request, body);
  if (!isNotFound && subject === undefined)
    throw new Error(`A response of ${route.operationId} does not say whom it shows.`);
  const asked = askedIdentityCard(request);
  if (asked === undefined) return isNotFound ? undefined : subject;
  const { identityCards = [] } = subject ?? {};
  return identityCards.includes(asked) ? subject : { ...subject, identityCards: [asked, ...identityCards] };
}

const showsOnlyItsRequest = (
  { showsOnlyItsRequest: shows }: Pick<Creation<unknown>, 'showsOnlyItsRequest'>,
  { body }: Asking,
): boolean => (typeof shows === 'function' ? shows(body) : shows === true);

/**
 * Returns the subject of a refusal that reveals a person's membership, as that counts as access
 * (docs/ledger.md#what-is-recorded).
 */
function subjectOfRefusal({ body: given }: Asking, refusal: unknown): Subject | undefined {
  const told = (refusal as { readonly [field: string]: unknown } | null | undefined)?.[NON_FIELD_ERRORS];
  if (!Array.isArray(told) || !told.includes(IS_MEMBER)) return undefined;
  return { identityCards: [String((given as { readonly identity_card: unknown }).identity_card)] };
}

const routeNames = new WeakMap<Route, string>();

function nameOf(route: Route): string {
  let name = routeNames.get(route);
  if (name === undefined) {
    name = `${route.method} ${fullPath(route)}`;
    routeNames.set(route, name);
  }
  return name;
}

/** Describes the route and its response for the record, never including a value. */
export function describeShown(
  route: Route,
  { status, fields }: ApiResponse,
): Pick<AccessRecord, 'route' | 'fields' | 'status' | 'isPage'> {
  const { personal } = route;
  const shown = status >= 400 || personal === 'none' ? undefined : personal;
  return {
    route: nameOf(route),
    fields: shown === undefined ? [] : (fields ?? shown.fields),
    status,
    ...(shown?.persons === 'page' ? { isPage: true } : {}),
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes a header: node:http reads its bytes as Latin-1, while most clients send UTF-8. */
function decode(latin1: string): string {
  try {
    return utf8.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return latin1;
  }
}

/** @throws HttpError 400 */
function readStated(
  incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  name: string,
  lower: string,
): string | null {
  if (incoming.headers[lower] === undefined) return null;
  const given = incoming.headersDistinct[lower] ?? [];
  // A header sent twice is invalid.
  const text = parseStated(given.length === 1 ? decode(given[0] as string) : '');
  if (text instanceof FieldError) throw badRequest(`${name}: ${text.message}`);
  return text;
}

/** The stated purpose and end user; null where none is stated. */
export type Stated = Pick<AccessRecord, 'purpose' | 'endUser'>;

export const NOTHING_STATED: Stated = { purpose: null, endUser: null };

/**
 * @param purposeOfKey purpose for a request that states none
 * @throws HttpError 400 for a header that is not text, or is sent twice
 */
export function readStatements(
  incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  purposeOfKey: string | null = null,
): Stated {
  const purpose = readStated(incoming, 'X-Purpose', 'x-purpose') ?? purposeOfKey;
  const endUser = readStated(incoming, 'X-End-User', 'x-end-user');
  return purpose === null && endUser === null ? NOTHING_STATED : { purpose, endUser };
}
