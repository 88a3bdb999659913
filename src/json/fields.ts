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
} from '../domain/values/date-time.ts';
import type { Deprecation } from '../domain/values/deprecation.ts';
import { FieldError, unknownReference } from '../domain/values/errors.ts';
import { ID, parseId } from '../domain/values/ids.ts';
import { BLANK, NOT_A_STRING, parseChoice, parseText } from '../domain/values/text.ts';
import { anyOf, choiceOf, integer, type Schema, string } from './schema.ts';

/** What checking a value needs to know beside the value. */
export interface FieldContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
}

export interface FieldKind<T, Json = unknown> {
  /** Of what responses show. */
  readonly schema: Schema<Json>;
  /** Of what a body may hold, where that is more; else the same. */
  readonly bodySchema?: Schema;
  readonly deprecated?: Deprecation;
  /** Checks a value that is neither null nor absent. */
  readonly parse: (value: unknown, context: FieldContext) => T | FieldError;
}

/**
 * @param parse of a string that is not blank
 * @param bodySchema of what a body may hold, where that is more than what responses show
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

/** White space around a value is dropped. */
export const withSpaces = (pattern: RegExp): string =>
  pattern.source.replace(/^\^/, '^\\s*').replace(/\$$/, '\\s*$');

/** @param maxLength in characters */
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

/** The id of another resource: a string of digits, or a whole number (docs/api.md#members). */
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
