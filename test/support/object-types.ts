/** The types of the objects that embedding programs get: their text from the routes, and what writes it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { declaredRoutes } from './openapi-file.ts';

export const OBJECT_TYPES_FILE = fileURLToPath(
  new URL('../../src/app/embedding/objects.ts', import.meta.url),
);

/** What is read of schemas. */
interface Described {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly anyOf?: readonly Described[];
  readonly items?: Described;
  readonly properties?: { readonly [name: string]: Described };
  readonly required?: readonly string[];
  readonly additionalProperties?: Described | false;
}

const union = (types: readonly string[]): string => {
  const distinct = [...new Set(types)];
  // Any string, whatever else it may be.
  return distinct.filter((each) => !each.startsWith("'") || !distinct.includes('string')).join(' | ');
};

/** The declarations of a file: an interface for each schema with a title, but for pages. */
class Declarations {
  readonly texts = new Map<string, string>();
  /** Where a long choice was declared first. */
  private readonly choices = new Map<string, string>();

  typeOf(schema: Described): string {
    const { title, properties = {}, anyOf } = schema;
    const rows = properties.results?.items;
    if (rows !== undefined && 'count' in properties) return `Page<${this.typeOf(rows)}>`;
    if (title !== undefined) {
      if (!this.texts.has(title)) {
        this.texts.set(title, '');
        this.texts.set(title, `export interface ${title} ${this.objectOf(schema, title)}`);
      }
      return title;
    }
    if (schema.enum !== undefined)
      return union(schema.enum.map((value) => (value === null ? 'null' : `'${value}'`)));
    if (anyOf !== undefined) return union(anyOf.map((each) => this.typeOf(each)));
    return union([schema.type ?? []].flat().map((type) => this.plainTypeOf(type, schema)));
  }

  private plainTypeOf(type: string, schema: Described): string {
    if (type === 'integer') return 'number';
    if (type === 'array') return `readonly ${this.typeOf(schema.items ?? {})}[]`;
    return type === 'object' ? this.objectOf(schema) : type;
  }

  private objectOf(
    { properties = {}, required = [], additionalProperties }: Described,
    title?: string,
  ): string {
    if (additionalProperties) return `{ readonly [name: string]: ${this.typeOf(additionalProperties)} }`;
    const lines = Object.entries(properties).map(([name, schema]) => {
      const type = this.typeOf(schema);
      const known = this.choices.get(type) ?? type;
      if (title !== undefined && schema.enum !== undefined && known === type)
        this.choices.set(type, `${title}['${name}']`);
      return `readonly ${name}${required.includes(name) ? '' : '?'}: ${known};`;
    });
    return `{ ${lines.join(' ')} }`;
  }

  /** Without the format of an export: what it gives is objects. */
  queryOf(query: { readonly [name: string]: { readonly schema: object } }): string {
    const given = Object.entries(query).filter(([name]) => name !== 'format');
    const lines = given.map(([name, { schema }]) => {
      const type = this.typeOf(schema as Described);
      return `readonly ${name}?: ${union([this.choices.get(type) ?? type, 'undefined'])};`;
    });
    return `{ ${lines.join(' ')} }`;
  }
}

const PAGE = `/** A page of a list, as in docs/api.md#lists. */
export interface Page<Row> {
  /** All rows of the list, exact. */
  readonly count: number;
  /** A link, with \`publicUrl\` a complete one; null on the last page. */
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Row[];
}`;

/** As far as the formatter of the project leaves it: its line breaks and spaces are its own. */
export function objectTypesText(): string {
  const declarations = new Declarations();
  // What a key may do is of no use to those who need none.
  const reads = declaredRoutes().filter(
    ({ method, access }) => method === 'GET' && access !== 'public' && access !== 'any key',
  );
  const results = reads.map(
    ({ operationId, responses }) =>
      `${operationId}: ${declarations.typeOf((responses[200]?.schema ?? {}) as Described)};`,
  );
  const queries = reads.flatMap(({ operationId, query }) =>
    query === undefined ? [] : [`${operationId}: ${declarations.queryOf(query)};`],
  );
  return [
    '/** The objects of the API, from the declarations of its routes: `make openapi` writes this file. */',
    ...[...declarations.texts.values(), PAGE],
    '/** What each operation gives; an export gives many. */',
    `export interface Results { ${results.join('\n')} }`,
    '/** The query parameters of each operation. */',
    `export interface Queries { ${queries.join('\n')} }`,
  ].join('\n\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(OBJECT_TYPES_FILE, objectTypesText());
