/** Entity tags, and the request headers that compare them (docs/api.md#not-overwriting-each-other). */
import { hash } from 'node:crypto';
import type { Subject } from '../../access/access-ledger.ts';
import type { Schema } from '../../values/schema.ts';
import { type ApiResponse, badRequest, HttpError, JsonText, ok } from './response.ts';
import type { ApiRequest, RequestHeader, SuccessResponse } from './route.ts';

export interface Representation {
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

export const taggedResponse = (description: string, schema: Schema): SuccessResponse => ({
  description,
  schema,
  headers: { ETag: 'required' },
});

export const taggedOk = ({ text, tag, subject }: Representation): ApiResponse => ({
  ...ok(new JsonText(text)),
  subject,
  headers: { ETag: tag },
});

export const taggedCreated = (path: string, { text, tag, subject }: Representation): ApiResponse => ({
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
 * @returns a function that throws HttpError 412 if the header does not contain the tag of a row
 * @throws HttpError 400 for a malformed header
 */
export function readIfMatch<T>(
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
