/**
 * JSON Schema 2020-12 with the TypeScript type of what it describes. Each function builds the plain object
 * that OpenAPI shows; the type is known to the compiler only. Values are checked by the parsers of the
 * fields, not by these schemas.
 */

import type { Deprecation } from '../domain/values/deprecation.ts';

declare const VALUE: unique symbol;

/** A JSON Schema. `T` is the type of a value that fits. */
export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  /** Never present: it carries the type. */
  readonly [VALUE]?: T;
}

/** The type of the values that a schema describes. */
export type Static<Described> = Described extends Schema<infer T> ? T : never;

export interface Annotations {
  readonly description?: string;
  /** A schema with a title becomes a component of the OpenAPI description. */
  readonly title?: string;
  readonly default?: unknown;
  /** The first is shown where the description has an example (example.ts). */
  readonly examples?: readonly unknown[];
}

interface StringKeywords extends Annotations {
  /** In characters (code points), as maxLength. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: 'date' | 'date-time' | 'uri';
}

interface IntegerKeywords extends Annotations {
  readonly minimum?: number;
}

interface ArrayKeywords extends Annotations {
  readonly maxItems?: number;
}

interface Properties {
  readonly [name: string]: Schema;
}

export const string = (keywords: StringKeywords = {}): Schema<string> => ({ type: 'string', ...keywords });

export const integer = (keywords: IntegerKeywords = {}): Schema<number> => ({ type: 'integer', ...keywords });

export const boolean = (keywords: Annotations = {}): Schema<boolean> => ({ type: 'boolean', ...keywords });

/** One of the given strings. */
export const choiceOf = <T extends string>(choices: readonly T[], keywords: Annotations = {}): Schema<T> => ({
  type: 'string',
  enum: [...choices],
  ...keywords,
});

/** Exactly this string. */
export const literal = <T extends string>(value: T): Schema<T> => ({ type: 'string', const: value });

export const array = <T>(items: Schema<T>, keywords: ArrayKeywords = {}): Schema<T[]> => ({
  type: 'array',
  items,
  ...keywords,
});

/** What fits at least one of the schemas. */
export const anyOf = <Each extends readonly Schema[]>(
  schemas: Each,
  keywords: Annotations = {},
): Schema<Static<Each[number]>> => ({ anyOf: schemas, ...keywords });

/** `schema`, or null. */
export function nullable<T>(schema: Schema<T>, keywords: Annotations = {}): Schema<T | null> {
  const { type, enum: choices, title } = schema;
  // A component, or what has no type of its own, stays as it is.
  if (typeof type !== 'string' || title !== undefined)
    return { anyOf: [schema, { type: 'null' }], ...keywords };
  return {
    ...schema,
    type: [type, 'null'],
    ...(choices === undefined ? {} : { enum: [...(choices as T[]), null] }),
    ...keywords,
  };
}

/** What a schema, a parameter or an operation of OpenAPI says of its deprecation. */
export const deprecationKeywords = (deprecation: Deprecation | undefined): Schema =>
  deprecation === undefined ? {} : { deprecated: true, 'x-deprecation': deprecation };

/** An object that has all of the properties, and perhaps others that a later version adds. */
export const object = <P extends Properties>(
  properties: P,
  keywords: Annotations = {},
): Schema<{ [name in keyof P]: Static<P[name]> }> =>
  objectWith(properties, Object.keys(properties), keywords);

/** An object that may lack those properties that are not in `required`. */
export const objectWith = <P extends Properties>(
  properties: P,
  required: readonly string[],
  keywords: Annotations = {},
): Schema<{ [name in keyof P]: Static<P[name]> }> => ({
  type: 'object',
  ...(required.length === 0 ? {} : { required }),
  properties,
  ...keywords,
});
