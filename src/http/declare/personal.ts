/** Whose data a response shows, and what its reader says of why (docs/ledger.md). */
import type { IncomingMessage } from 'node:http';
import { parseStated } from '../../domain/access/key-values.ts';
import { isIdentityCard } from '../../domain/membership/identity-card.ts';
import type { FieldGroup } from '../../domain/values/declared-fields.ts';
import { FieldError, IS_MEMBER, NON_FIELD_ERRORS } from '../../domain/values/errors.ts';
import type { Reading, Subject } from '../../store/contract/access-ledger.ts';
import { badRequest } from './errors.ts';
import type { ApiResponse } from './response.ts';
import { type Creation, fullPath, type Personal, type Route, type RouteRequest } from './route.ts';

/** What is declared of a route by what its responses show. */
export const showing = (
  persons: Exclude<Personal, 'none'>['persons'],
  fields: readonly FieldGroup[],
): Personal => (fields.length === 0 ? 'none' : { persons, fields });

type Asking = Pick<RouteRequest, 'params' | 'query'> & { readonly body?: unknown };

/** The national ID that a request names in its path or query. */
function askedIdentityCard({ params, query }: Asking): string | undefined {
  for (const name in params) if (isIdentityCard(params[name] as string)) return params[name];
  const { identity_card: filter } = query;
  return typeof filter === 'string' ? filter : undefined;
}

/**
 * What is to be recorded before a response leaves.
 * @returns undefined for a response that shows nobody
 * @throws Error for one that shows persons and does not say whom: it must not leave
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

/** A refusal that tells that somebody is a member is a reading (docs/ledger.md#what-is-recorded). */
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

/** What a reading says of the route and its response: never a value. */
export function describeShown(
  route: Route,
  { status, fields }: ApiResponse,
): Pick<Reading, 'route' | 'fields' | 'status' | 'isPage'> {
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

/** node:http gives the bytes of a header as Latin-1; most clients send UTF-8. */
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
  // Sent twice it is no text.
  const text = parseStated(given.length === 1 ? decode(given[0] as string) : '');
  if (text instanceof FieldError) throw badRequest(`${name}: ${text.message}`);
  return text;
}

/** What a reader says of a reading; null where it says nothing. */
export type Stated = Pick<Reading, 'purpose' | 'endUser'>;

export const NOTHING_STATED: Stated = { purpose: null, endUser: null };

/**
 * @param purposeOfKey for a request that states none
 * @throws HttpError 400 for what is not text, or is sent twice
 */
export function readStatements(
  incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  purposeOfKey: string | null = null,
): Stated {
  const purpose = readStated(incoming, 'X-Purpose', 'x-purpose') ?? purposeOfKey;
  const endUser = readStated(incoming, 'X-End-User', 'x-end-user');
  return purpose === null && endUser === null ? NOTHING_STATED : { purpose, endUser };
}
