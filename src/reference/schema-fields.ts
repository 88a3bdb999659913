/** Renders schemas as HTML. */

import { type Html, type HtmlValue, html, withCode } from '../values/html.ts';

// The parts of the OpenAPI description that the reference reads

export interface Described {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly (string | null)[];
  readonly default?: unknown;
  readonly deprecated?: boolean;
  readonly minimum?: number;
  readonly maxLength?: number;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly allOf?: readonly Described[];
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Described };
  readonly additionalProperties?: Described | false;
  readonly readOnly?: boolean;
}

interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: Described;
  readonly example?: string;
  readonly deprecated?: boolean;
}

export interface DescribedResponse {
  readonly description: string;
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: { readonly [type: string]: { readonly schema: Described; readonly example?: unknown } };
}

export interface Operation {
  readonly parameters?: readonly (DescribedParameter | Reference)[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Described } } };
  readonly responses: { readonly [status: string]: DescribedResponse | Reference };
}

interface Reference {
  readonly $ref: string;
}

export interface Description {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: {
    readonly schemas: { readonly [name: string]: Described };
    readonly parameters: { readonly [name: string]: DescribedParameter };
    readonly headers: { readonly [name: string]: { readonly description: string } };
    readonly responses: { readonly [name: string]: DescribedResponse };
  };
}

export const nameIn = ({ $ref }: Reference): string => $ref.slice($ref.lastIndexOf('/') + 1);

export const resolve = <Part extends object>(
  part: Part | Reference,
  components: { readonly [name: string]: Part },
): Part =>
  '$ref' in part && typeof part.$ref === 'string'
    ? (components[nameIn(part as Reference)] as Part)
    : (part as Part);

type Schemas = Description['components']['schemas'];

/** Longer patterns are hard to read, and are omitted. */
const MAX_PATTERN = 40;

const joined = (parts: readonly HtmlValue[], separator: string): HtmlValue[] =>
  parts.flatMap((part, i) => (i === 0 ? [part] : [separator, part]));

export const objectLink = (name: string): Html => html`<a href="#${name}">${name}</a>`;

/** Returns, for example, "text of at most 64 characters or null". */
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
  const plain = types.find((name) => name !== 'null');
  if (plain === undefined) return html`${types.includes('null') ? 'null' : 'any value'}`;
  if (plain === 'object') return html`${properties === undefined ? mapOf(schema) : 'object'}${orNull}`;
  return html`${plain === 'string' ? textType(schema) : numberType(plain, schema)}${orNull}`;
}

/** Removes repeated types, such as texts that differ only in a part of the schema that is not shown. */
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

export function meaningOf(schema: Described, description = schema.description): Html {
  const { pattern, default: fallback } = schema;
  const choices = choicesIn(schema).filter((choice) => choice !== null);
  const sentences = [
    description && withCode(description),
    choices.length > 0 ? html`One of ${code(choices, ', ')}.` : undefined,
    pattern === undefined || pattern.length > MAX_PATTERN
      ? undefined
      : html`Pattern <code>${pattern}</code>.`,
    fallback === undefined ? undefined : html`Default <code>${String(fallback)}</code>.`,
  ];
  return html`${joined(
    sentences.filter((sentence) => sentence !== undefined),
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

/** Fields of a nested object are named `outer.inner`. */
function fieldsOf(schema: Described, schemas: Schemas): Field[] {
  const { allOf = [], properties = {}, required = [] } = resolve(schema, schemas);
  const fields = new Map<string, Field>();
  for (const part of allOf) for (const field of fieldsOf(part, schemas)) fields.set(field.name, field);
  for (const [name, property] of Object.entries(properties)) {
    fields.set(name, { name, schema: { ...fields.get(name)?.schema, ...property }, isRequired: false });
    for (const inner of property.properties === undefined ? [] : fieldsOf(property, schemas))
      fields.set(`${name}.${inner.name}`, { ...inner, name: `${name}.${inner.name}` });
  }
  return [...fields.values()].map((field) => ({
    ...field,
    isRequired: field.isRequired || required.includes(field.name),
  }));
}

export const entry = (name: string, type: HtmlValue, marks: readonly string[], meaning: HtmlValue): Html =>
  html`<div><dt><code>${name}</code> <span class="quiet">${type}</span>${marks.map(
    (mark) => html` <span class="mark">${mark}</span>`,
  )}</dt><dd>${meaning}</dd></div>
`;

export const entries = (lines: readonly Html[]): Html => html`<dl class="entries">${lines}</dl>`;

export const marksOf = (
  isRequired: boolean,
  { deprecated }: { readonly deprecated?: boolean | undefined },
): string[] => [...(isRequired ? ['required'] : []), ...(deprecated === true ? ['deprecated'] : [])];

/** @param of `body` to mark the required fields; a `response` always has all fields */
export function fieldList(schema: Described, schemas: Schemas, of: 'body' | 'response'): Html {
  const { additionalProperties, properties, anyOf = [], description } = resolve(schema, schemas);
  const all = fieldsOf(schema, schemas);
  const isIgnored = (field: Field) => resolve(field.schema, schemas).readOnly === true;
  const ignored = all.filter(isIgnored).map(({ name }) => name);
  const lines = all
    .filter((field) => !isIgnored(field))
    .map(({ name, schema: part, isRequired }) =>
      entry(name, typeOf(part), marksOf(of === 'body' && isRequired, part), meaningOf(part)),
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
