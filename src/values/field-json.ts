/** JSON of declared fields: validation of request bodies, JSON Schemas, and texts in responses. */

import {
  DATE_TIME,
  FUTURE_ERROR,
  formatDate,
  parseDateTime,
  parsePastDate,
  type TimeZone,
} from './date-time.ts';
import { type DecimalKind, type ExactInteger, formatDecimal, parseDecimal } from './decimal.ts';
import {
  type Deprecation,
  FIELD_GROUPS,
  type Field,
  type FieldGroup,
  listFields,
  type NamedField,
} from './declared-fields.ts';
import { FieldError, ID, parseId, unknownReference } from './errors.ts';
import { IDENTITY_CARD, parseIdentityCard } from './identity-card.ts';
import {
  anyOf,
  choiceOf,
  deprecationKeywords,
  integer,
  nullable,
  objectWith,
  type Schema,
  string,
} from './schema.ts';
import {
  type FieldSerializers,
  instant,
  plain,
  type Serialize,
  type StringField,
  serializeObject,
  text,
} from './serializer.ts';
import { E164, parseMobile } from './telephone.ts';
import {
  BLANK,
  COOPERATIVE_CODE,
  NOT_A_STRING,
  parseChoice,
  parseCooperativeCode,
  parseText,
} from './text.ts';

export interface FieldContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
}

export interface FieldKind {
  readonly schema: Schema;
  /** Set if bodies accept values in more forms than responses have. */
  readonly bodySchema?: Schema;
  readonly deprecated?: Deprecation;
  /** Validates a value other than null and undefined. @returns the value to store */
  readonly parse: (value: unknown, context: FieldContext) => unknown | FieldError;
}

export const kindOf = (field: Field): FieldKind => {
  const { deprecated, example } = field;
  const kind = kindOfValue(field);
  const schema = example === undefined ? kind.schema : { ...kind.schema, examples: [example] };
  return { ...kind, schema, ...(deprecated === undefined ? {} : { deprecated }) };
};

function kindOfValue(field: Field): FieldKind {
  const { description } = field;
  switch (field.kind) {
    case 'text':
      return textField(string({ minLength: 1, maxLength: field.maxLength, description }), (value) =>
        parseText(value, field.maxLength),
      );
    case 'choice':
      return textField(choiceOf(field.choices, { description }), (value) =>
        parseChoice(value, field.choices),
      );
    case 'past_date':
      return textField(string({ format: 'date', description }), (value, { zone, nowSeconds }) =>
        parsePastDate(value, formatDate(nowSeconds, zone)),
      );
    case 'instant':
    case 'past_instant':
      return instantField(description, field.kind === 'past_instant');
    case 'decimal':
      return decimalField(field.decimal, description);
    case 'reference':
      return referenceField(description);
    case 'identity_card':
      return textField(string({ pattern: IDENTITY_CARD.source, description }), parseIdentityCard);
    case 'cooperative_code':
      return textField(
        string({ pattern: COOPERATIVE_CODE.source, description }),
        parseCooperativeCode,
        string({ pattern: withSpacesAround(COOPERATIVE_CODE), description }),
      );
    case 'mobile':
      return textField(
        string({ pattern: E164.source, description }),
        parseMobile,
        string({
          minLength: 1,
          description: `${description} \`07…\`, \`7…\` and \`2507…\` are read as Rwandan.`,
        }),
      );
  }
}

const textField = (
  schema: Schema,
  parse: (value: string, context: FieldContext) => unknown | FieldError,
  bodySchema: Schema = schema,
): FieldKind => ({
  schema,
  bodySchema,
  parse(value, context) {
    if (typeof value !== 'string' || !value.isWellFormed()) return NOT_A_STRING;
    return value.trim() === '' ? BLANK : parse(value, context);
  },
});

const withSpacesAround = (pattern: RegExp): string =>
  pattern.source.replace(/^\^/, '^\\s*').replace(/\$$/, '\\s*$');

const instantField = (description: string, isPast: boolean): FieldKind =>
  textField(
    string({ format: 'date-time', description }),
    (value, { zone, nowSeconds }) => {
      const instant = parseDateTime(value, zone);
      return isPast && typeof instant === 'number' && instant > nowSeconds ? FUTURE_ERROR : instant;
    },
    anyOf([string({ format: 'date' }), string({ pattern: DATE_TIME.source })], {
      description: `${description} Without an offset in the registry's zone; a date is midnight there.`,
    }),
  );

/** In bodies, an id may be a string of digits or an integer (docs/api.md#members). */
const referenceField = (description: string): FieldKind => ({
  schema: string({ pattern: ID.source, description }),
  bodySchema: anyOf([string({ pattern: withSpacesAround(ID) }), integer({ minimum: 0 })], { description }),
  parse(value) {
    const isId = typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value));
    if (!isId) return new FieldError('Incorrect type. Expected pk value.');
    const id = String(value).trim();
    return parseId(id) ?? new FieldError(unknownReference(id));
  },
});

// Money, weights and rates as decimal text, exact to the last digit (docs/api.md#formats)

export const decimalSchema = (fractionDigits: number, description: string): Schema<string> =>
  string({
    pattern: `^[0-9]+\\.[0-9]{${fractionDigits}}$`,
    description,
    examples: [fractionDigits === 3 ? '47.000' : '41000.00'],
  });

/** In bodies, a decimal may have fewer digits after the point than in responses. */
const decimalField = (kind: DecimalKind, description: string): FieldKind =>
  textField(
    decimalSchema(kind.fractionDigits, description),
    (value) => parseDecimal(value.trim(), kind),
    string({
      pattern: withSpacesAround(new RegExp(`^-?[0-9]+(?:\\.[0-9]{1,${kind.fractionDigits}})?$`)),
      description,
    }),
  );

/** @param read returns minor units */
export const decimal = <Value>(
  read: (value: Value) => ExactInteger | null,
  fractionDigits: number,
): StringField<Value> =>
  plain((value) => {
    const units = read(value);
    return units === null ? null : formatDecimal(units, fractionDigits);
  });

// Properties of responses

interface Shown<Value> {
  readonly schema: Schema;
  readonly write: StringField<Value> | Serialize<Value>;
  /** Recorded as shown in the access ledger. Undefined for ids, times and data of no person. */
  readonly groups?: readonly FieldGroup[];
}

export interface ShownProperties<Value> {
  readonly [name: string]: Shown<Value>;
}

/** Keeps the order of `properties`. */
export const shownFields = <Value>(
  fields: { readonly [property: string]: Field },
  properties: readonly string[],
): ShownProperties<Value> => {
  const declared = listFields(fields);
  return Object.fromEntries(
    properties.flatMap((wanted) =>
      declared.filter(({ property }) => property === wanted).map((field) => [field.name, shownField(field)]),
    ),
  );
};

export const NULL_FINANCIALS = 'Null without the scope `members:financials`';

export const financials = <Value>(properties: ShownProperties<Value>): ShownProperties<Value> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, { ...property, groups: ['financials'] }]),
  );

/** Includes all fields that are neither hidden nor in `properties`. */
export const otherFields = <Value>(
  fields: { readonly [property: string]: Field },
  properties: readonly string[],
): ShownProperties<Value> => {
  const others = listFields(fields).filter(
    ({ property, isHidden }) => isHidden !== true && !properties.includes(property),
  );
  return Object.fromEntries(others.map((field) => [field.name, shownField(field)]));
};

function shownField<Value>(field: NamedField): Shown<Value> {
  const { schema, deprecated } = kindOf(field);
  return {
    schema: {
      ...(field.isNullable === true ? nullable(schema) : schema),
      ...deprecationKeywords(deprecated),
    },
    write: writerOf<Value>(field),
    ...(field.group === undefined ? {} : { groups: [field.group] }),
  };
}

function writerOf<Value>(field: NamedField): StringField<Value> {
  const property = field.property as keyof Value;
  const string = (value: Value) => value[property] as string | null;
  const number = (value: Value) => value[property] as number;
  switch (field.kind) {
    case 'text':
      return text(string);
    case 'instant':
    case 'past_instant':
      return instant(number);
    case 'decimal':
      return decimal(number, field.decimal.fractionDigits);
    case 'reference':
      return plain((value) => String(number(value)));
    default:
      return plain(string);
  }
}

/** @param optional schemas of rare properties, which the caller serializes after the other properties */
export function shownObject<Value>(
  title: string,
  properties: ShownProperties<Value>,
  optional: { readonly [name: string]: Schema } = {},
) {
  const of = <Part>(part: (property: Shown<Value>) => Part): { [name: string]: Part } =>
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, part(property)]));
  const writers = of(({ write }) => write) as FieldSerializers<unknown, Value>;
  const personal = new Set(Object.values(properties).flatMap(({ groups = [] }) => groups));
  return {
    schema: objectWith({ ...of(({ schema }) => schema), ...optional }, Object.keys(properties), { title }),
    serialize: serializeObject(writers),
    groups: FIELD_GROUPS.filter((group) => personal.has(group)),
  };
}
