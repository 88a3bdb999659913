/** JSON of declared fields: validation in bodies, schema, and text in responses. */

import { FIELD_GROUPS, type Field, type FieldGroup, listFields, type NamedField } from './declared-fields.ts';
import {
  choice,
  dateTime,
  decimal,
  decimalField,
  type FieldKind,
  pastDate,
  pastDateTime,
  plainText,
  reference,
  textField,
  withSpaces,
} from './fields.ts';
import { IDENTITY_CARD, parseIdentityCard } from './identity-card.ts';
import { deprecationKeywords, nullable, objectWith, type Schema, string } from './schema.ts';
import {
  type FieldSerializers,
  instant,
  plain,
  type Serialize,
  type StringField,
  serializeObject,
  text,
} from './serializer.ts';
import { COOPERATIVE_CODE, E164, parseCooperativeCode, parseMobile } from './text.ts';

/** Returns the kind of value by which bodies and responses show a field. */
export const kindOf = (field: Field): FieldKind<unknown> => {
  const { deprecated, example } = field;
  const kind = kindOfValue(field);
  const schema = example === undefined ? kind.schema : { ...kind.schema, examples: [example] };
  return { ...kind, schema, ...(deprecated === undefined ? {} : { deprecated }) };
};

function kindOfValue(field: Field): FieldKind<unknown> {
  const { description } = field;
  switch (field.kind) {
    case 'text':
      return plainText(field.maxLength, description);
    case 'choice':
      return choice(field.choices, description);
    case 'past_date':
      return pastDate(description);
    case 'instant':
      return dateTime(description);
    case 'past_instant':
      return pastDateTime(description);
    case 'decimal':
      return decimalField(field.decimal, description);
    case 'reference':
      return reference(description);
    case 'identity_card':
      return textField(string({ pattern: IDENTITY_CARD.source, description }), parseIdentityCard);
    case 'cooperative_code':
      return textField(
        string({ pattern: COOPERATIVE_CODE.source, description }),
        parseCooperativeCode,
        string({ pattern: withSpaces(COOPERATIVE_CODE), description }),
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

/** A property of a response: its schema and its serializer. */
export interface Shown<Value> {
  readonly schema: Schema;
  readonly write: StringField<Value> | Serialize<Value>;
  /** Groups of personal data that it belongs to. */
  readonly groups?: readonly FieldGroup[];
}

export interface ShownProperties<Value> {
  readonly [name: string]: Shown<Value>;
}

/** Returns the response properties for the given fields, in their order. */
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

/** Part of the description of a financial block. */
export const NULL_FINANCIALS = 'Null without the scope `members:financials`';

/** Marks properties as personal financial data. */
export const financials = <Value>(properties: ShownProperties<Value>): ShownProperties<Value> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, shown]) => [name, { ...shown, groups: ['financials'] }]),
  );

/** Returns the response properties for all other fields, except hidden ones. */
export const otherFields = <Value>(
  fields: { readonly [property: string]: Field },
  properties: readonly string[],
): ShownProperties<Value> => {
  const others = listFields(fields).filter(({ isHidden }) => isHidden !== true);
  return shownFields(
    fields,
    others.map(({ property }) => property).filter((property) => !properties.includes(property)),
  );
};

function shownField<Value>(field: NamedField): Shown<Value> {
  const { schema, deprecated } = kindOf(field);
  const shown = field.isNullable === true ? nullable(schema) : schema;
  return {
    schema: { ...shown, ...deprecationKeywords(deprecated) },
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

/**
 * Declares an object of a response from its properties, in their order.
 * @param optional properties that few responses have, after the others; the serializer does not write them
 */
export function shownObject<Value>(
  title: string,
  properties: ShownProperties<Value>,
  optional: { readonly [name: string]: Schema } = {},
) {
  const of = <Part>(part: (shown: Shown<Value>) => Part): { [name: string]: Part } =>
    Object.fromEntries(Object.entries(properties).map(([name, shown]) => [name, part(shown)]));
  const writers = of(({ write }) => write) as FieldSerializers<unknown, Value>;
  const found = new Set(Object.values(properties).flatMap(({ groups = [] }) => groups));
  return {
    schema: objectWith({ ...of(({ schema }) => schema), ...optional }, Object.keys(properties), { title }),
    serialize: serializeObject(writers),
    /** Groups of all properties. */
    groups: FIELD_GROUPS.filter((group) => found.has(group)),
  };
}
