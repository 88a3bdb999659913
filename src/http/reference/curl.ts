/** An operation as a command line of curl. */

import { exampleOfBody, mediaTypesOf } from '../declare/body-fields.ts';
import type { Route } from '../declare/route.ts';
import { fullPath } from '../declare/route.ts';

/** As one word of the shell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** With the key in the variable KEY, and the examples that the route declares. */
export function curlLine(route: Route, baseUrl: string): string {
  const { method, access, body, params = {} } = route;
  const path = fullPath(route).replace(/\{(\w+)\}/g, (_, name: string) => params[name]?.example ?? name);
  const isExport = typeof access === 'object' && access.isExport === true;
  const parts = [
    `curl -s${isExport ? 'OJ --compressed' : ''}`,
    ...(method === 'GET' || method === 'POST' ? [] : [`-X ${method}`]),
    ...(access === 'public' ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...(method === 'POST' ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...(body === undefined
      ? []
      : [
          `-H 'Content-Type: ${mediaTypesOf(body).at(-1)}'`,
          `-d ${quoted(JSON.stringify(exampleOfBody(body), null, 2))}`,
        ]),
    quoted(baseUrl + path),
  ];
  return parts.join(body === undefined ? ' ' : ' \\\n  ');
}
