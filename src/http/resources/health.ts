/** Whether the process is up, and whether it can answer. No key needed. */

import { literal, object } from '../../json/schema.ts';
import type { RegistryStore } from '../../store/ports/registry.ts';
import { HttpError } from '../declare/errors.ts';
import { SHOWS_NO_ROWS } from '../declare/narrowing.ts';
import { ok } from '../declare/response.ts';
import type { Route } from '../declare/route.ts';

const HEALTH = object({ status: literal('ok') }, { title: 'Health' });

export function healthRoutes(store: Pick<RegistryStore, 'isReady'>, isDraining: () => boolean): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      isOutsideApi: true,
      operationId: 'getHealth',
      summary: 'Whether the process is up',
      tag: 'operation',
      access: 'public',
      narrowed: SHOWS_NO_ROWS,
      responses: { 200: { description: 'Yes.', schema: HEALTH, example: { status: 'ok' } } },
      handle: () => ok({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      isOutsideApi: true,
      operationId: 'getReadiness',
      summary: 'Whether the database answers and the server is not shutting down',
      tag: 'operation',
      access: 'public',
      narrowed: SHOWS_NO_ROWS,
      responses: { 200: { description: 'Yes.', schema: HEALTH, example: { status: 'ok' } } },
      refusals: [503],
      async handle() {
        if (isDraining()) throw new HttpError(503, 'The server is shutting down.', { 'Retry-After': '5' });
        if (!(await store.isReady()))
          throw new HttpError(503, 'The database does not answer.', { 'Retry-After': '5' });
        return ok({ status: 'ok' });
      },
    },
  ];
}
