/** Whether the process is up, and whether it can answer. No key needed. */

import type { UnavailableReason } from '../../domain/values/errors.ts';
import { literal, object } from '../../json/schema.ts';
import type { RegistryStore } from '../../store/ports/registry.ts';
import { SHOWS_NO_ROWS } from '../declare/narrowing.ts';
import { ok, refusal } from '../declare/response.ts';
import type { Route } from '../declare/route.ts';

const notReady = (reason: UnavailableReason, detail: string) =>
  refusal(503, detail, { 'Retry-After': '5' }, reason);

const HEALTH = object({ status: literal('ok') }, { title: 'Health' });

export function healthRoutes(store: Pick<RegistryStore, 'isReady'>, isDraining: () => boolean): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      isOutsideApi: true,
      isAlwaysAnswered: true,
      operationId: 'getHealth',
      summary: 'Whether the process is up',
      tag: 'operation',
      access: 'public',
      narrowed: SHOWS_NO_ROWS,
      personal: 'none',
      responses: { 200: { description: 'Yes.', schema: HEALTH, example: { status: 'ok' } } },
      handle: () => ok({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      isOutsideApi: true,
      isAlwaysAnswered: true,
      operationId: 'getReadiness',
      summary: 'Whether the database answers and the server is not shutting down',
      tag: 'operation',
      access: 'public',
      narrowed: SHOWS_NO_ROWS,
      personal: 'none',
      responses: { 200: { description: 'Yes.', schema: HEALTH, example: { status: 'ok' } } },
      refusals: [503],
      async handle() {
        if (isDraining()) return notReady('stopping', 'The server is shutting down.');
        if (!(await store.isReady())) return notReady('not_ready', 'The database does not answer.');
        return ok({ status: 'ok' });
      },
    },
  ];
}
