/** The table of docs/api.md that is made from the routes: what is deprecated. */

import type { Route } from '../../src/http/declare/route.ts';
import { listDeprecated } from '../../src/http/server/request-lifecycle.ts';
import { code, table } from './markdown.ts';
import { declaredRoutes } from './openapi-file.ts';

/** What is deprecated, or that nothing is. */
export function deprecatedTable(routes: readonly Route[] = declaredRoutes()): string {
  const rows = routes.flatMap(listDeprecated).map(({ name, deprecation: { since, sunset, link } }) => {
    const [route = '', ...part] = name.split(', ');
    return [[code(route), ...part].join(', '), since, sunset, `<${link}>`];
  });
  return rows.length === 0
    ? 'Nothing is deprecated.'
    : table(['Deprecated', 'Since', 'Until', 'Instead'], rows);
}
