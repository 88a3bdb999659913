/**
 * The types of what the API answers: their text from the routes, and what writes it to a file.
 * `node object-types.ts FILE`
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { declaredRoutes } from './openapi-file.ts';

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
    if (type === 'array') return `ReadonlyArray<${this.typeOf(schema.items ?? {})}>`;
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
    return title === undefined ? `{ ${lines.join(' ')} }` : `{\n  ${lines.join('\n  ')}\n}`;
  }
}

const PAGE = `/** A page of a list, as in docs/api.md#lists. */
export interface Page<Row> {
  /** All rows of the list, exact. */
  readonly count: number;
  /** A link; null on the last page. */
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Row[];
}`;

/** What `npm run build` adds to the package as `cooperative-registry/objects`. */
export function objectTypesText(): string {
  const declarations = new Declarations();
  const results = declaredRoutes()
    .filter(({ method, isOutsideApi }) => method === 'GET' && !isOutsideApi)
    .map(
      ({ operationId, responses }) =>
        `  ${operationId}: ${declarations.typeOf((responses[200]?.schema ?? {}) as Described)};`,
    );
  return [
    '/** The objects of the API, from the declarations of its routes. */',
    ...[...declarations.texts.values(), PAGE],
    '/** What each operation that reads gives; an export gives many. */\n' +
      `export interface Results {\n${results.join('\n')}\n}\n`,
  ].join('\n\n');
}

const [, program, file] = process.argv;
if (program === fileURLToPath(import.meta.url)) writeFileSync(file ?? '', objectTypesText());
