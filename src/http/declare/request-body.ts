/** Reads request bodies within limits of type, size, time and nesting, and declares their fields. */

import type { IncomingMessage } from 'node:http';
import { visit } from 'jsonc-parser';
import {
  type Field,
  type Fields,
  type InputValues,
  isGiven,
  listFields,
  type NamedField,
  NOW,
} from '../../values/declared-fields.ts';
import { mayEcho } from '../../values/errors.ts';
import { type FieldKind, kindOf } from '../../values/field-json.ts';
import type { Schema } from '../../values/schema.ts';
import { badRequest, bodyTooLarge, HttpError } from './response.ts';

export function hasBody(incoming: IncomingMessage): boolean {
  return (
    incoming.headers['transfer-encoding'] !== undefined || Number(incoming.headers['content-length'] ?? 0) > 0
  );
}

/** Maximum bytes of a body (docs/api.md#writing). */
export const MAX_BODY_BYTES = 65_536;
/** Nesting is limited, because `positionOfFault` is recursive. Valid bodies have at most two levels. */
const MAX_DEPTH = 32;
const BODY_TIMEOUT_MS = 30_000;

/** @throws HttpError 413, 415, 400 or 408 */
export async function readBody(
  incoming: IncomingMessage,
  declared: Pick<BodyDeclaration, 'isPatch'>,
): Promise<Uint8Array> {
  if (isTooLarge(incoming)) throw bodyTooLarge();
  if (!hasBody(incoming)) return new Uint8Array();
  refuseMediaType(incoming, mediaTypesOf(declared));
  return readBytes(incoming);
}

export const isTooLarge = (incoming: IncomingMessage): boolean =>
  Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES;

const MEDIA_TYPE = /^([^;\s]+)(?:\s*;\s*charset="?utf-8"?)?$/i;

function refuseMediaType(incoming: IncomingMessage, accepted: readonly string[]): void {
  if (incoming.headers['content-encoding'] !== undefined) {
    throw new HttpError(415, 'Unsupported content encoding in request.');
  }
  const type = (incoming.headers['content-type'] ?? '').trim();
  if (accepted.includes(MEDIA_TYPE.exec(type)?.[1]?.toLowerCase() ?? '')) return;
  throw new HttpError(415, `Unsupported media type ${mayEcho(type) ? `"${type}" ` : ''}in request.`);
}

const FAILURE = Symbol('why the rest of the body cannot be read');
type Failing = IncomingMessage & { [FAILURE]?: HttpError };

/**
 * Makes the reading of a body fail: the rest will never arrive, because the next bytes on the connection are
 * not HTTP. Destroying `incoming` would also destroy the connection before the response is sent.
 */
export function failBody(incoming: IncomingMessage, error: HttpError): void {
  (incoming as Failing)[FAILURE] = error;
  incoming.emit(FAILURE, error);
}

export const hasFailed = (incoming: IncomingMessage): boolean => FAILURE in incoming;

function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onTimeout = () => stop(new HttpError(408, 'The request body did not arrive in time.'));
    const timer = setTimeout(onTimeout, BODY_TIMEOUT_MS);
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) stop(bodyTooLarge());
      else chunks.push(chunk);
    };
    const onEnd = () => stop(undefined);
    const onAborted = () => stop(badRequest('The request was aborted.'));
    function stop(error: HttpError | undefined): void {
      clearTimeout(timer);
      incoming.off('data', onData).off('end', onEnd).off('close', onAborted).off('error', onAborted);
      incoming.off(FAILURE, stop);
      if (error === undefined) resolve(Buffer.concat(chunks, length));
      else reject(error);
    }
    const failure = (incoming as Failing)[FAILURE];
    if (failure !== undefined) {
      stop(failure);
      return;
    }
    incoming.on('data', onData).on('end', onEnd).on('close', onAborted).on('error', onAborted);
    incoming.on(FAILURE, stop);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An empty body counts as `{}`. @throws HttpError 400 with the position of the fault, without body text */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw badRequest('JSON parse error - the body is not valid UTF-8.');
  }
  if (isTooDeep(text)) throw badRequest(`JSON parse error - nested deeper than ${MAX_DEPTH} levels.`);
  try {
    return JSON.parse(text);
  } catch {
    // The message of V8 is not used, because it quotes the body.
    throw badRequest(`JSON parse error${positionOfFault(text)}.`);
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isString) {
      if (character === '\\') i++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') {
      if (++depth > MAX_DEPTH) return true;
    } else if (character === '}' || character === ']') depth--;
  }
  return false;
}

function positionOfFault(text: string): string {
  let position: string | undefined;
  const onError = (_code: number, _offset: number, _length: number, line: number, character: number) => {
    position ??= ` - line ${line + 1} column ${character + 1}`;
  };
  visit(text, { onError }, { disallowComments: true });
  return position ?? '';
}

// Declarations of POST, PUT and PATCH bodies, which `parseBody` checks (resource.ts)

export interface BodyField extends FieldKind {
  readonly name: string;
  /** `nullable` and `default` fields may be omitted; only a `nullable` field may be null. */
  readonly presence: 'required' | 'nullable' | 'default';
  /** Value of an omitted `default` field; undefined if the route decides the value. */
  readonly fallback?: string | number;
}

declare const BODY: unique symbol;

/** `Body` is the type of the checked values. */
export interface BodyDeclaration<Body = unknown> {
  readonly title: string;
  /** The keys are property names in code; the `name` of a field is its name in JSON. */
  readonly fields: { readonly [property: string]: BodyField };
  /** Response fields that a body may contain. Their values are ignored. */
  readonly readOnly?: readonly string[];
  /** Sets of fields: the body must have all fields of one set. */
  readonly oneOf?: readonly (readonly string[])[];
  /** True for a JSON merge patch (RFC 7396), in which omitted fields keep their stored values. */
  readonly isPatch?: boolean;
  /** For PUT, the PATCH body of the same resource. */
  readonly patch?: BodyDeclaration;
  /** Never present at run time; carries the type for the compiler. */
  readonly [BODY]?: Body;
}

export const mediaTypesOf = ({ isPatch }: Pick<BodyDeclaration, 'isPatch'>): readonly string[] =>
  isPatch === true ? ['application/json', 'application/merge-patch+json'] : ['application/json'];

// Bodies of a resource's POST, PUT and PATCH, derived from the declared fields

interface BodyOptions {
  readonly title: string;
  /** Schema of the GET response. PUT and PATCH ignore its properties that no body can set, such as `id`. */
  readonly response: Schema;
  readonly oneOf?: BodyDeclaration['oneOf'];
}

export interface Bodies<Body> {
  readonly post: BodyDeclaration<Body>;
  /** Accepts a GET response that the client has changed. */
  readonly put: BodyDeclaration<Body>;
  readonly patch: BodyDeclaration<Body>;
}

export function declareBodies<Declared extends Fields>(
  declared: Declared,
  { title, response, oneOf }: BodyOptions,
): Bodies<InputValues<Declared>> {
  const settable = listFields(declared).filter(isGiven);
  const fieldsOf = (toField: (field: NamedField) => BodyField): BodyDeclaration['fields'] =>
    Object.fromEntries(settable.map((field) => [field.property, toField(field)]));
  const fields = fieldsOf(ofUpdate);
  const names = settable.map(({ name }) => name);
  const readOnly = Object.keys(response.properties as object).filter((name) => !names.includes(name));
  const either = oneOf === undefined ? {} : { oneOf };
  const patch = { title: `${title}PatchBody`, fields, readOnly, isPatch: true };
  return {
    post: { title: `${title}Body`, fields: fieldsOf(ofNew), ...either },
    put: { title: `${title}UpdateBody`, fields, readOnly, patch },
    patch,
  };
}

function ofNew(field: NamedField): BodyField {
  const { name, initial, whenNew } = field;
  const kind = kindOf(whenNew === undefined ? field : { kind: 'choice', label: field.label, ...whenNew });
  if (initial === undefined) return { ...kind, name, presence: presenceOf(field) };
  return { ...kind, name, presence: 'default', ...(initial === NOW ? {} : { fallback: initial }) };
}

function ofUpdate(field: NamedField): BodyField {
  const { name, initial, isFixed } = field;
  // Fixed fields can be omitted: clients may send back a response to GET, in which some of these are hidden.
  if (isFixed === true)
    return { ...kindOf({ ...field, description: 'Cannot be changed.' }), name, presence: 'default' };
  return { ...kindOf(field), name, presence: initial === undefined ? presenceOf(field) : 'default' };
}

const presenceOf = ({ isNullable, isComposed }: Field): BodyField['presence'] =>
  isNullable === true || isComposed === true ? 'nullable' : 'required';
