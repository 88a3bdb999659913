/** What is deprecated of a route, from all its declarations, and the headers that say so. */
import { assertDeprecation, type Deprecation } from '../../domain/values/deprecation.ts';
import type { Schema } from '../../json/schema.ts';
import type { ApiRequest } from './request.ts';
import type { Headers } from './response.ts';
import { fullPath, type Route } from './route.ts';

type SentRequest = Pick<ApiRequest, 'search' | 'body'>;

export interface Deprecated {
  /** For clients and operators, such as `GET /api/v1/things, parameter old`. */
  readonly name: string;
  readonly deprecation: Deprecation;
  /** Whether a request uses it. A part of the response concerns every request: any may read it. */
  isUsedBy(request: SentRequest): boolean;
}

const always = () => true;

/** @throws Error for a declaration that leaves clients less than six months, or is wrong otherwise */
export function deprecatedOf(route: Route): Deprecated[] {
  const found: Deprecated[] = [];
  function add(part: string, deprecation: Deprecation | undefined, isUsedBy: Deprecated['isUsedBy']): void {
    const name = `${route.method} ${fullPath(route)}${part}`;
    // Responses of several statuses may have the field.
    if (deprecation === undefined || found.some((known) => known.name === name)) return;
    assertDeprecation(name, deprecation);
    found.push({ name, deprecation, isUsedBy });
  }

  add('', route.deprecated, always);
  for (const [name, { deprecated }] of Object.entries(route.query ?? {}))
    add(`, parameter ${name}`, deprecated, ({ search }) => search.has(name));
  for (const { name, deprecated } of Object.values(route.body?.fields ?? {}))
    add(`, field ${name} of the body`, deprecated, ({ body }) => hasField(body, name));
  for (const { schema } of Object.values(route.responses))
    for (const [name, deprecation] of deprecatedProperties(schema))
      add(`, field ${name} of the response`, deprecation, always);
  return found;
}

const hasField = (body: unknown, name: string): boolean =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, name);

/** Those in other properties and in arrays too, as `results.name`. */
function* deprecatedProperties(schema: Schema, path = ''): Generator<[string, Deprecation]> {
  for (const [name, property] of Object.entries((schema.properties ?? {}) as { [name: string]: Schema })) {
    const deprecation = property['x-deprecation'] as Deprecation | undefined;
    if (deprecation !== undefined) yield [`${path}${name}`, deprecation];
    yield* deprecatedProperties(property, `${path}${name}.`);
  }
  const { items, anyOf, allOf } = schema as { [keyword: string]: Schema | readonly Schema[] | undefined };
  for (const part of [items ?? [], anyOf ?? [], allOf ?? []].flat()) yield* deprecatedProperties(part, path);
}

const earliest = (dates: readonly string[]): Date => new Date([...dates].sort()[0] as string);

/** Of several, the first to have been deprecated and the first to end; the links of all. */
export const deprecationHeaders = (deprecations: readonly Deprecation[]): Headers => ({
  // RFC 9745: a date of structured fields.
  Deprecation: `@${earliest(deprecations.map(({ since }) => since)).getTime() / 1000}`,
  // RFC 8594: a date of HTTP.
  Sunset: earliest(deprecations.map(({ sunset }) => sunset)).toUTCString(),
  Link: [...new Set(deprecations.map(({ link }) => `<${new URL(link).href}>; rel="deprecation"`))].join(', '),
});
