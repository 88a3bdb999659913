/** Entity tags, and the requests that depend on them (docs/api.md#not-overwriting-each-other). */
import { hash } from 'node:crypto';
import type { Schema } from '../../json/schema.ts';
import type { Subject } from '../../store/contract/access-ledger.ts';
import { badRequest, HttpError } from '../declare/errors.ts';
import { type ApiResponse, JsonText, ok } from '../declare/response.ts';
import type { RequestHeader, RouteRequest, SuccessResponse } from '../declare/route.ts';

/** One resource as it is sent. */
export interface Representation {
  readonly text: string;
  /** The value of `ETag`: a strong one, which changes whenever the text does. */
  readonly tag: string;
  /** Whom it shows, if anybody. */
  readonly subject?: Subject | undefined;
}

/** 132 bits of SHA-256. */
const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

export const represent = (text: string): Representation => ({ text, tag: `"${digest(text)}"` });

/**
 * A representation with a number that changes without a write of the resource. Its tag has two parts:
 * If-None-Match compares both, If-Match only the first.
 * @param values the text with another number, always the same
 */
export const representCounted = (text: string, values: string, count: number): Representation => ({
  text,
  tag: `"${digest(values)}.${count}"`,
});

/** What is declared of a response with one resource. */
export const taggedResponse = (description: string, schema: Schema): SuccessResponse => ({
  description,
  schema,
  headers: { ETag: 'required' },
});

/** @param response without a body yet */
const withRepresentation = (response: ApiResponse, { text, tag, subject }: Representation): ApiResponse => ({
  ...response,
  body: new JsonText(text),
  subject,
  headers: { ...response.headers, ETag: tag },
});

export const taggedOk = (representation: Representation): ApiResponse =>
  withRepresentation(ok(undefined), representation);

/** @param path of the new resource, from the root */
export const taggedCreated = (path: string, representation: Representation): ApiResponse =>
  withRepresentation({ status: 201, body: undefined, headers: { Location: path } }, representation);

/**
 * The response to GET.
 * @returns status 304 without a body when If-None-Match names the state (RFC 9110, section 13.1.2)
 * @throws HttpError 400 for a malformed If-None-Match
 */
export function readTagged(request: Pick<RouteRequest, 'incoming'>, found: Representation): ApiResponse {
  const known = readTags(request, 'If-None-Match');
  const isKnown = known === '*' || known?.some((tag) => withoutWeakness(tag) === found.tag) === true;
  return isKnown
    ? { status: 304, body: undefined, headers: { ETag: found.tag }, subject: found.subject }
    : taggedOk(found);
}

/**
 * Reads If-Match (RFC 9110, section 13.1.1).
 * @param toTag of a stored row
 * @returns what throws HttpError 412 for a row in another state than the header names
 * @throws HttpError 400 for a malformed header
 */
export function readIfMatch<T>(
  request: Pick<RouteRequest, 'incoming'>,
  toTag: (stored: T) => string,
): (stored: T) => void {
  const tags = readTags(request, 'If-Match');
  if (tags === undefined || tags === '*') return () => {};
  // A weak tag begins with W, so that it is never equal to a strong one.
  const allowed = tags.map(firstPart);
  return (stored) => {
    if (!allowed.includes(firstPart(toTag(stored))))
      throw new HttpError(412, 'The resource has changed since it was read.');
  };
}

/** The part of a tag that If-Match compares. */
const firstPart = (tag: string): string => tag.replace(/\.[0-9]+"$/, '"');

const withoutWeakness = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);

const ONE_TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
const TAGS = new RegExp(`^[ \\t,]*${ONE_TAG}(?:[ \\t]*,[ \\t,]*${ONE_TAG})*[ \\t,]*$`);

/** @throws HttpError 400 */
function readTags(
  { incoming }: Pick<RouteRequest, 'incoming'>,
  name: RequestHeader,
): '*' | readonly string[] | undefined {
  const given = incoming.headers[name.toLowerCase()];
  if (given === undefined) return undefined;
  const text = String(given).trim();
  if (text === '*') return text;
  if (!TAGS.test(text)) throw badRequest(`Expected * or entity tags in quotes in ${name}.`);
  return text.match(new RegExp(ONE_TAG, 'g')) ?? [];
}
