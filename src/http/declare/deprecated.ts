/** Collects a route's deprecations from all its declarations, and makes the headers that announce them. */

import { assertDeprecation, type Deprecation } from '../../values/declared-fields.ts';
import type { Schema } from '../../values/schema.ts';
import type { ApiRequest } from './request.ts';
import type { Headers } from './response.ts';
import { fullPath, type Route } from './route.ts';

type SentRequest = Pick<ApiRequest, 'search' | 'body'>;

export interface Deprecated {
  /** Name for clients and operators, such as `GET /api/v1/things, parameter old`. */
  readonly name: string;
  readonly deprecation: Deprecation;
  /** True if a request uses it. A response field concerns every request, as any client may read it. */
  isUsedBy(request: SentRequest): boolean;
}

const always = () => true;

/** @throws Error for a declaration that leaves clients less than six months, or is otherwise invalid */
export function deprecatedOf(route: Route): Deprecated[] {
  const found: Deprecated[] = [];
  function add(part: string, deprecation: Deprecation | undefined, isUsedBy: Deprecated['isUsedBy']): void {
    const name = `${route.method} ${fullPath(route)}${part}`;
    // Responses of several statuses may have the same field.
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

/** Yields deprecated properties, including nested ones and those in arrays, as `results.name`. */
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

/** Combines several deprecations: the earliest dates, and the links of all. */
export const deprecationHeaders = (deprecations: readonly Deprecation[]): Headers => ({
  // A date of structured fields (RFC 9745)
  Deprecation: `@${earliest(deprecations.map(({ since }) => since)).getTime() / 1000}`,
  // An HTTP date (RFC 8594)
  Sunset: earliest(deprecations.map(({ sunset }) => sunset)).toUTCString(),
  Link: [...new Set(deprecations.map(({ link }) => `<${new URL(link).href}>; rel="deprecation"`))].join(', '),
});
