/** Schemas for people: each field with its type, its choices and what it means. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { type Described, type Description, nameIn, resolve } from './description.ts';

type Schemas = Description['components']['schemas'];

/** A longer pattern says less than the description beside it. */
const MAX_PATTERN = 40;

/** Texts of declarations set code in backticks. */
export const withCode = (text: string): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))}`;

const joined = (parts: readonly HtmlValue[], separator: string): HtmlValue[] =>
  parts.flatMap((part, i) => (i === 0 ? [part] : [separator, part]));

export const objectLink = (name: string): Html => html`<a href="#${name}">${name}</a>`;

/** For example: text of at most 64 characters, or null. */
export function typeOf(schema: Described): Html {
  const { $ref, type, enum: choices, items, anyOf, const: only, properties } = schema;
  if ($ref !== undefined) return objectLink(nameIn({ $ref }));
  const either = anyOf ?? schema.oneOf;
  if (either !== undefined) return html`${joined(distinct(either.map(typeOf)), ' or ')}`;
  if (only !== undefined) return html`always <code>${JSON.stringify(only)}</code>`;
  const types = [type ?? []].flat();
  const orNull = types.includes('null') || choices?.includes(null) === true ? ' or null' : '';
  if (choices !== undefined) return html`choice${orNull}`;
  if (items !== undefined) return html`list of ${typeOf(items)}${orNull}`;
  const plain = types.find((each) => each !== 'null');
  if (plain === undefined) return html`${types.includes('null') ? 'null' : 'any value'}`;
  if (plain === 'object') return html`${properties === undefined ? mapOf(schema) : 'object'}${orNull}`;
  return html`${plain === 'string' ? textType(schema) : numberType(plain, schema)}${orNull}`;
}

/** The same type twice, such as a text by two patterns, is one. */
const distinct = (types: readonly Html[]): Html[] => [
  ...new Map(types.map((type) => [String(type), type])).values(),
];

function textType({ format, maxLength }: Described): string {
  if (format !== undefined) return format === 'uri' ? 'address' : format;
  return maxLength === undefined ? 'text' : `text of at most ${maxLength} characters`;
}

const numberType = (type: string, { minimum }: Described): string => {
  const name = type === 'integer' ? 'whole number' : type === 'boolean' ? 'true or false' : type;
  return minimum === undefined ? name : `${name} from ${minimum}`;
};

const mapOf = ({ additionalProperties }: Described): HtmlValue =>
  additionalProperties ? html`object of ${typeOf(additionalProperties)} by name` : 'object';

/** What stands beside a field or parameter of the schema: meaning, choices, pattern, default. */
export function meaningOf(schema: Described, description = schema.description): Html {
  const { pattern, default: fallback } = schema;
  const choices = choicesIn(schema).filter((choice) => choice !== null);
  const said = [
    description && withCode(description),
    choices.length > 0 ? html`One of ${code(choices, ', ')}.` : undefined,
    pattern === undefined || pattern.length > MAX_PATTERN
      ? undefined
      : html`Pattern <code>${pattern}</code>.`,
    fallback === undefined ? undefined : html`Default <code>${String(fallback)}</code>.`,
  ];
  return html`${joined(
    said.filter((each) => each !== undefined),
    ' ',
  )}`;
}

const choicesIn = ({ enum: choices = [], items, anyOf = [] }: Described): readonly (string | null)[] => [
  ...choices,
  ...(items === undefined ? [] : choicesIn(items)),
  ...anyOf.flatMap(choicesIn),
];

interface Field {
  readonly name: string;
  readonly schema: Described;
  readonly isRequired: boolean;
}

/** Of an object; those of an object inside it, which has no name of its own, come as `outer.inner`. */
function fieldsOf(schema: Described, schemas: Schemas): Field[] {
  const { allOf = [], properties = {}, required = [] } = resolve(schema, schemas);
  const fields = new Map<string, Field>();
  for (const part of allOf) for (const field of fieldsOf(part, schemas)) fields.set(field.name, field);
  for (const [name, own] of Object.entries(properties)) {
    fields.set(name, { name, schema: { ...fields.get(name)?.schema, ...own }, isRequired: false });
    for (const inner of own.properties === undefined ? [] : fieldsOf(own, schemas))
      fields.set(`${name}.${inner.name}`, { ...inner, name: `${name}.${inner.name}` });
  }
  return [...fields.values()].map((field) => ({
    ...field,
    isRequired: field.isRequired || required.includes(field.name),
  }));
}

/** One entry of a list of fields, parameters or headers. */
export const entry = (name: string, type: HtmlValue, marks: readonly string[], meaning: HtmlValue): Html =>
  html`<div><dt><code>${name}</code> <span class="quiet">${type}</span>${marks.map(
    (mark) => html` <span class="mark">${mark}</span>`,
  )}</dt><dd>${meaning}</dd></div>
`;

export const entries = (each: readonly Html[]): Html => html`<dl class="entries">${each}</dl>`;

export const marksOf = (
  isRequired: boolean,
  { deprecated }: { readonly deprecated?: boolean | undefined },
): string[] => [...(isRequired ? ['required'] : []), ...(deprecated === true ? ['deprecated'] : [])];

/** @param of a body, where some fields are required, or a response, which has all of its own */
export function fieldList(schema: Described, schemas: Schemas, of: 'body' | 'response'): Html {
  const { additionalProperties, properties, anyOf = [], description } = resolve(schema, schemas);
  const all = fieldsOf(schema, schemas);
  const isIgnored = (field: Field) => resolve(field.schema, schemas).readOnly === true;
  const ignored = all.filter(isIgnored).map(({ name }) => name);
  const lines = all
    .filter((field) => !isIgnored(field))
    .map(({ name, schema: own, isRequired }) =>
      entry(name, typeOf(own), marksOf(of === 'body' && isRequired, own), meaningOf(own)),
    );
  const either = anyOf.map(({ required = [] }) => code(required, ' with '));
  const notRead = html`Accepted as GET gives them, and ignored: ${code(ignored, ', ')}.`;
  return html`${paragraph(description && withCode(description))}
${lines.length === 0 ? undefined : entries(lines)}
${paragraph(properties === undefined && additionalProperties ? mapOf({ additionalProperties }) : undefined)}
${paragraph(either.length > 0 ? html`Required: ${joined(either, ', or ')}.` : undefined)}
${paragraph(ignored.length > 0 ? notRead : undefined)}`;
}

const paragraph = (content: HtmlValue): HtmlValue =>
  content === undefined ? undefined : html`<p>${content}</p>`;

export const code = (names: readonly string[], separator: string): Html =>
  html`${joined(
    names.map((name) => html`<code>${name}</code>`),
    separator,
  )}`;
