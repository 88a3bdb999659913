/** Kinds of values in bodies and queries: one declaration gives the check, the TypeScript type and the schema. */
import { FUTURE_ERROR, formatDate, parseDate, parseDateTime, type TimeZone } from '../domain/date-time.ts';
import { FieldError, unknownReference } from '../domain/errors.ts';
import { BLANK, NOT_A_STRING, parseChoice, parseText } from '../domain/text.ts';
import { anyOf, choiceOf, integer, type Schema, string } from './schema.ts';

/** What checking a value needs to know beside the value. */
export interface FieldContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
}

export interface FieldKind<T, Json = unknown> {
  readonly schema: Schema<Json>;
  /** Checks a value that is neither null nor absent. */
  readonly parse: (value: unknown, context: FieldContext) => T | FieldError;
}

/** @param parse of a string that is not blank */
export function textField<T, Json>(
  schema: Schema<Json>,
  parse: (value: string, context: FieldContext) => T | FieldError,
): FieldKind<T, Json> {
  return {
    schema,
    parse(value, context) {
      if (typeof value !== 'string' || !value.isWellFormed()) return NOT_A_STRING;
      return value.trim() === '' ? BLANK : parse(value, context);
    },
  };
}

/** @param maxLength in characters */
export const plainText = (maxLength: number, description: string) =>
  textField(string({ minLength: 1, maxLength, description }), (value) => parseText(value, maxLength));

export const choice = <T extends string>(choices: readonly T[], description: string) =>
  textField(choiceOf(choices, { description }), (value) => parseChoice(value, choices));

/** A calendar date that is not after today in the registry's zone. */
export const pastDate = (description: string) =>
  textField(string({ format: 'date', description }), (value, { zone, nowSeconds }) => {
    const date = parseDate(value);
    if (date instanceof FieldError) return date;
    return date > formatDate(nowSeconds, zone) ? FUTURE_ERROR : date;
  });

/** An instant that is not after now, as epoch seconds. */
export const pastDateTime = (description: string) =>
  textField(string({ format: 'date-time', description }), (value, { zone, nowSeconds }) => {
    const instant = parseDateTime(value, zone);
    return typeof instant === 'number' && instant > nowSeconds ? FUTURE_ERROR : instant;
  });

const ID = /^[0-9]{1,12}$/;

/** Ids are the decimal text of an integer key, never as long as a national ID (contract section 1). */
export const parseId = (value: string): number | undefined => (ID.test(value) ? Number(value) : undefined);

/** The id of another resource: a string of digits, or a whole number (contract section 13). */
export const reference = (description: string): FieldKind<number> => ({
  schema: anyOf([string({ pattern: '^[0-9]{1,12}$' }), integer({ minimum: 0 })], { description }),
  parse(value) {
    const isId = typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value));
    if (!isId) return new FieldError('Incorrect type. Expected pk value.');
    const given = String(value).trim();
    return parseId(given) ?? new FieldError(unknownReference(given));
  },
});
