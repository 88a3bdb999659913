/** Tables of docs/api.md that are made from the routes: fields of resources, choices. */

import { IDENTITY_CARD } from '../../src/domain/membership/identity-card.ts';
import { ID } from '../../src/domain/values/ids.ts';
import type { BodyDeclaration, BodyField } from '../../src/http/declare/body-fields.ts';
import { deprecatedOf } from '../../src/http/declare/deprecated.ts';
import type { Route } from '../../src/http/declare/route.ts';
import { describeApi } from '../../src/http/openapi/openapi.ts';
import { API_VERSION } from '../../src/http/routes.ts';
import type { Schema } from '../../src/json/schema.ts';
import { code, table } from './markdown.ts';
import { declaredRoutes } from './openapi-file.ts';

type Properties = { readonly [name: string]: Schema };

const partsOf = (schema: Schema): readonly Schema[] => (schema.anyOf as Schema[] | undefined) ?? [schema];
const isNull = ({ type }: Schema): boolean => type === 'null';
const isNullable = (schema: Schema): boolean =>
  [schema.type].flat().includes('null') || partsOf(schema).some(isNull);
const propertiesOf = (schema: Schema | undefined): Properties => (schema?.properties ?? {}) as Properties;
const descriptionOf = (schema: Schema): string =>
  String(schema.description ?? partsOf(schema).find(({ description }) => description)?.description ?? '');

/** The values of a choice; undefined for what is not one. */
const choicesOf = (schema: Schema): readonly string[] | undefined =>
  (partsOf(schema).find((part) => part.enum !== undefined)?.enum as string[] | undefined)?.filter(
    (value) => value !== null,
  );

function oneType(schema: Schema): string {
  const { type, format, pattern, maxLength, properties } = schema;
  if (schema.enum !== undefined) return '[choice](#values)';
  if (typeof properties === 'object' && properties !== null)
    return `object: ${Object.keys(properties).map(code).join(', ')}`;
  if ([type].flat().includes('integer')) return 'whole number';
  if (format === 'date-time' || format === 'date') return format;
  if (pattern === IDENTITY_CARD.source) return 'NID';
  if (pattern === ID.source) return 'id';
  const decimals = /\[0-9\]\{([0-9])\}\$$/.exec(String(pattern ?? ''));
  if (decimals !== null) return `decimal, ${decimals[1]} fraction digits`;
  return maxLength === undefined ? 'text' : `text, at most ${maxLength}`;
}

function typeOf(schema: Schema): string {
  const parts = partsOf(schema);
  const choice = parts.find((part) => part.enum !== undefined);
  const shown = choice ?? parts.find((part) => !isNull(part)) ?? schema;
  return `${oneType(shown)}${isNullable(schema) ? ' or null' : ''}`;
}

const fieldOf = (wanted: string, { fields }: Pick<BodyDeclaration, 'fields'>): BodyField | undefined =>
  Object.values(fields).find(({ name }) => name === wanted);
const namesOf = ({ fields }: BodyDeclaration): string[] => Object.values(fields).map(({ name }) => name);

/** What becomes of a field that a body leaves out. */
function whenOmitted(name: string, { fields, oneOf }: BodyDeclaration): string {
  const field = fieldOf(name, { fields }) as BodyField;
  if (field.presence === 'required') return 'required';
  if (oneOf?.[0]?.includes(name) === true) {
    const others = oneOf.slice(1).map((names) => names.map(code).join(' with '));
    return ['required', ...others].join(', or ');
  }
  if (field.presence === 'nullable') return 'null';
  if (field.fallback !== undefined) return code(String(field.fallback));
  return 'optional';
}

/** The values that a body takes, where they are fewer than the response shows. */
function ownChoice(field: BodyField | undefined, shown: Schema | undefined): string {
  const own = field && choicesOf(field.bodySchema ?? field.schema);
  const all = shown && choicesOf(shown);
  if (own === undefined || all === undefined || own.length === all.length) return '';
  return `; takes ${own.map(code).join(', ')}`;
}

/** Fields that the document describes once. */
const IN_EVERY_RESOURCE = ['id', 'created_at', 'updated_at'];

/** The fields of a resource, and what POST makes of one that is left out. @param path of its list */
export function fieldTable(path: string, routes: readonly Route[] = declaredRoutes()): string {
  const find = (method: string, at: string) =>
    routes.find((route) => route.method === method && route.path === at) as Route;
  const [post, put] = [find('POST', path), find('PUT', `${path}/{id}`)];
  const shown = propertiesOf(put.responses[200]?.schema);
  const body = post.body as BodyDeclaration;
  const omitted = (name: string): string => {
    const field = fieldOf(name, body);
    return field === undefined ? 'read-only' : whenOmitted(name, body) + ownChoice(field, shown[name]);
  };
  const names = new Set([...Object.keys(shown), ...namesOf(body)]);
  const own = [...names].filter((name) => !IN_EVERY_RESOURCE.includes(name));
  const rows = own.map((name) => {
    const schema = shown[name] ?? (fieldOf(name, body)?.schema as Schema);
    return [
      ...[code(name), shown[name] === undefined ? 'id, only in bodies' : typeOf(schema)],
      ...[omitted(name), descriptionOf(schema)],
    ];
  });
  return table(['Field', 'Type', 'If omitted', 'Means'], rows);
}

/** What is deprecated, or that nothing is. */
export function deprecatedTable(routes: readonly Route[] = declaredRoutes()): string {
  const rows = routes.flatMap(deprecatedOf).map(({ name, deprecation: { since, sunset, link } }) => {
    const [route = '', ...part] = name.split(', ');
    return [[code(route), ...part].join(', '), since, sunset, `<${link}>`];
  });
  return rows.length === 0
    ? 'Nothing is deprecated.'
    : table(['Deprecated', 'Since', 'Until', 'Instead'], rows);
}

/** The choices of each field, with the schemas of OpenAPI that have them. */
export function choiceTable(routes: readonly Route[] = declaredRoutes()): string {
  const { schemas } = describeApi(routes, API_VERSION).components as { schemas: { [title: string]: Schema } };
  const rows = new Map<string, { name: string; choices: readonly string[]; titles: string[] }>();
  for (const [title, schema] of Object.entries(schemas)) {
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      const choices = choicesOf(property);
      if (choices === undefined) continue;
      const key = [name, ...choices].join();
      const row = rows.get(key) ?? { name, choices, titles: [] };
      row.titles.push(title);
      rows.set(key, row);
    }
  }
  const cells = [...rows.values()].map(({ name, choices, titles }) => {
    const resources = titles.filter((title) => !title.endsWith('Body'));
    const shown = resources.length === 0 ? titles : resources;
    return [code(name), shown.sort().map(code).join(', '), choices.map(code).join(' ')];
  });
  return table(['Field', 'In (a schema of OpenAPI)', 'Values'], cells);
}
