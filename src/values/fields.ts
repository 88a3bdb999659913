/**
 * Kinds of values in bodies and queries: one declaration gives the check, the TypeScript type and the schema.
 */
import {
  DATE_TIME,
  FUTURE_ERROR,
  formatDate,
  parseDateTime,
  parsePastDate,
  type TimeZone,
} from './date-time.ts';
import { type DecimalKind, type ExactInteger, formatDecimal, parseDecimal } from './decimal.ts';
import type { Deprecation } from './declared-fields.ts';
import { FieldError, ID, parseId, unknownReference } from './errors.ts';
import { anyOf, choiceOf, integer, type Schema, string } from './schema.ts';
import { plain, type StringField } from './serializer.ts';
import { BLANK, NOT_A_STRING, parseChoice, parseText } from './text.ts';

export interface FieldContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
}

export interface FieldKind<T, Json = unknown> {
  /** Schema in responses. */
  readonly schema: Schema<Json>;
  /** Schema in bodies, where they accept more; defaults to `schema`. */
  readonly bodySchema?: Schema;
  readonly deprecated?: Deprecation;
  /** Checks a value that is neither null nor absent. */
  readonly parse: (value: unknown, context: FieldContext) => T | FieldError;
}

/**
 * @param parse parses a string that is not blank
 * @param bodySchema schema in bodies, where they accept more than responses show
 */
export function textField<T, Json>(
  schema: Schema<Json>,
  parse: (value: string, context: FieldContext) => T | FieldError,
  bodySchema: Schema = schema,
): FieldKind<T, Json> {
  return {
    schema,
    bodySchema,
    parse(value, context) {
      if (typeof value !== 'string' || !value.isWellFormed()) return NOT_A_STRING;
      return value.trim() === '' ? BLANK : parse(value, context);
    },
  };
}

/** Allows white space around a value, which is dropped. */
export const withSpaces = (pattern: RegExp): string =>
  pattern.source.replace(/^\^/, '^\\s*').replace(/\$$/, '\\s*$');

/** @param maxLength characters */
export const plainText = (maxLength: number, description: string) =>
  textField(string({ minLength: 1, maxLength, description }), (value) => parseText(value, maxLength));

export const choice = <T extends string>(choices: readonly T[], description: string) =>
  textField(choiceOf(choices, { description }), (value) => parseChoice(value, choices));

/** A calendar date that is not after today in the registry's zone. */
export const pastDate = (description: string) =>
  textField(string({ format: 'date', description }), (value, { zone, nowSeconds }) =>
    parsePastDate(value, formatDate(nowSeconds, zone)),
  );

const parseInstant = (value: string, { zone }: FieldContext): number | FieldError =>
  parseDateTime(value, zone);

/** An instant as epoch seconds. */
export const dateTime = (description: string, check: typeof parseInstant = parseInstant) =>
  textField(
    string({ format: 'date-time', description }),
    check,
    anyOf([string({ format: 'date' }), string({ pattern: DATE_TIME.source })], {
      description: `${description} Without an offset in the registry's zone; a date is midnight there.`,
    }),
  );

/** An instant that is not after now, as epoch seconds. */
export const pastDateTime = (description: string) =>
  dateTime(description, (value, context) => {
    const instant = parseInstant(value, context);
    return typeof instant === 'number' && instant > context.nowSeconds ? FUTURE_ERROR : instant;
  });

/** Id of another resource: a string of digits, or a whole number (docs/api.md#members). */
export const reference = (description: string): FieldKind<number> => ({
  schema: string({ pattern: ID.source, description }),
  bodySchema: anyOf([string({ pattern: withSpaces(ID) }), integer({ minimum: 0 })], { description }),
  parse(value) {
    const isId = typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value));
    if (!isId) return new FieldError('Incorrect type. Expected pk value.');
    const given = String(value).trim();
    return parseId(given) ?? new FieldError(unknownReference(given));
  },
});

// Money, weights and rates as decimal text, exact to the last digit (docs/api.md#formats)

/** Schema in responses, with exactly that many digits after the point. */
export const decimalSchema = (fractionDigits: number, description: string): Schema<string> =>
  string({
    pattern: `^[0-9]+\\.[0-9]{${fractionDigits}}$`,
    description,
    examples: [fractionDigits === 3 ? '47.000' : '41000.00'],
  });

/** A decimal in bodies, where fewer digits after the point are accepted too; the value is in minor units. */
export function decimalField(kind: DecimalKind, description: string) {
  const sent = new RegExp(`^-?[0-9]+(?:\\.[0-9]{1,${kind.fractionDigits}})?$`);
  return textField(
    decimalSchema(kind.fractionDigits, description),
    (value) => parseDecimal(value.trim(), kind),
    string({ pattern: withSpaces(sent), description }),
  );
}

/** Writes an amount in minor units as text, or null. */
export const decimal = <Value>(
  read: (value: Value) => ExactInteger | null,
  fractionDigits: number,
): StringField<Value> =>
  plain((value) => {
    const units = read(value);
    return units === null ? null : formatDecimal(units, fractionDigits);
  });
