/** Examples for OpenAPI, of nobody: order numbers of national IDs from 9000000 on are not issued. */

import { IDENTITY_CARD } from '../domain/membership/identity-card.ts';
import { E164 } from '../domain/membership/mobile.ts';
import { ID } from '../domain/values/ids.ts';
import { COOPERATIVE_CODE } from '../domain/values/text.ts';
import type { Schema } from './schema.ts';

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

/**
 * A value that fits a schema: the example that it declares, else one of its kind, else what those of its
 * parts make. An object has its required properties.
 */
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
