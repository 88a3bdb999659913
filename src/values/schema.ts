/**
 * JSON Schema 2020-12 for OpenAPI, with the TypeScript type of the described values. The schemas validate no
 * values: the parsers of fields do.
 */

import type { Deprecation } from './declared-fields.ts';
import { ID } from './errors.ts';
import { IDENTITY_CARD } from './identity-card.ts';
import { E164 } from './telephone.ts';
import { COOPERATIVE_CODE } from './text.ts';

declare const VALUE: unique symbol;

export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  /** Never present at run time; carries the type for the compiler. */
  readonly [VALUE]?: T;
}

export type Static<Described> = Described extends Schema<infer T> ? T : never;

interface Annotations {
  readonly description?: string;
  /** A schema with a title becomes a component of the OpenAPI description. */
  readonly title?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

interface StringKeywords extends Annotations {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: 'date' | 'date-time' | 'uri';
}

interface IntegerKeywords extends Annotations {
  readonly minimum?: number;
}

interface ArrayKeywords extends Annotations {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: true;
}

interface Properties {
  readonly [name: string]: Schema;
}

export const string = (keywords: StringKeywords = {}): Schema<string> => ({ type: 'string', ...keywords });

export const integer = (keywords: IntegerKeywords = {}): Schema<number> => ({ type: 'integer', ...keywords });

export const boolean = (keywords: Annotations = {}): Schema<boolean> => ({ type: 'boolean', ...keywords });

export const choiceOf = <T extends string>(choices: readonly T[], keywords: Annotations = {}): Schema<T> => ({
  type: 'string',
  enum: [...choices],
  ...keywords,
});

export const literal = <T extends string>(value: T): Schema<T> => ({ type: 'string', const: value });

export const array = <T>(items: Schema<T>, keywords: ArrayKeywords = {}): Schema<T[]> => ({
  type: 'array',
  items,
  ...keywords,
});

export const anyOf = <Each extends readonly Schema[]>(
  schemas: Each,
  keywords: Annotations = {},
): Schema<Static<Each[number]>> => ({ anyOf: schemas, ...keywords });

export function nullable<T>(schema: Schema<T>, keywords: Annotations = {}): Schema<T | null> {
  const { type, enum: choices, title } = schema;
  // A schema that is a component or has no single type is wrapped in `anyOf`.
  if (typeof type !== 'string' || title !== undefined)
    return { anyOf: [schema, { type: 'null' }], ...keywords };
  return {
    ...schema,
    type: [type, 'null'],
    ...(choices === undefined ? {} : { enum: [...(choices as T[]), null] }),
    ...keywords,
  };
}

export const deprecationKeywords = (deprecation: Deprecation | undefined): Schema =>
  deprecation === undefined ? {} : { deprecated: true, 'x-deprecation': deprecation };

/** All properties are required. */
export const object = <P extends Properties>(
  properties: P,
  keywords: Annotations = {},
): Schema<{ [name in keyof P]: Static<P[name]> }> =>
  objectWith(properties, Object.keys(properties), keywords);

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

// Fictitious examples for OpenAPI. National IDs with serial numbers from 9000000 on are never issued.

export const EXAMPLE_NATIONAL_ID = '1198589000123042';
export const EXAMPLE_MOMENT = '2025-06-15T12:00:00+02:00';

const BY_FORMAT: { readonly [format: string]: string } = {
  'date-time': EXAMPLE_MOMENT,
  date: '1985-03-31',
};
const BY_PATTERN: { readonly [pattern: string]: string } = {
  [IDENTITY_CARD.source]: EXAMPLE_NATIONAL_ID,
  [COOPERATIVE_CODE.source]: 'KOAKAMA-HUY',
  [E164.source]: '+250781234567',
  [ID.source]: '1',
};

/** Returns the declared example, or else a valid value. Composed objects have only required properties. */
export function exampleOf(schema: Schema): unknown {
  const {
    examples,
    const: only,
    enum: choices,
    anyOf: alternatives,
    items,
    properties,
    required = [],
  } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return choices[0];
  if (Array.isArray(alternatives)) return exampleOf(alternatives[0]);
  if (items !== undefined) return [exampleOf(items as Schema)];
  if (properties !== undefined)
    return Object.fromEntries(
      (required as string[]).map((name) => [
        name,
        exampleOf((properties as { [name: string]: Schema })[name] ?? {}),
      ]),
    );
  const { type, format, pattern } = schema;
  if (type === 'integer') return 1;
  if (type === 'boolean') return false;
  if (type === 'object') return {};
  return BY_FORMAT[String(format)] ?? BY_PATTERN[String(pattern)] ?? 'Example';
}
