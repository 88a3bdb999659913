/** `/healthz` and `/readyz`: liveness and readiness of the process, without a key. */

import { ok, refusal } from '../http/declare/response.ts';
import { type Route, SHOWS_NO_ROWS } from '../http/declare/route.ts';
import type { UnavailableReason } from '../values/errors.ts';
import { literal, object } from '../values/schema.ts';

export type Unready = Extract<UnavailableReason, 'stopping' | 'not_ready' | 'ledger'>;

const UNREADY: { readonly [reason in Unready]: string } = {
  stopping: 'The server is shutting down.',
  not_ready: 'The database does not answer.',
  ledger: 'The disk of the access ledger does not answer: no personal data is shown.',
};

const HEALTH = object({ status: literal('ok') }, { title: 'Health' });

const SHARED = {
  method: 'GET',
  isOutsideApi: true,
  isAlwaysAnswered: true,
  tag: 'operation',
  access: 'public',
  narrowed: SHOWS_NO_ROWS,
  personal: 'none',
  responses: { 200: { description: 'The process is up.', schema: HEALTH } },
} as const;

export function healthRoutes(findUnready: () => Promise<Unready | undefined>): Route[] {
  return [
    {
      ...SHARED,
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Whether the process is up',
      handle: () => ok({ status: 'ok' }),
    },
    {
      ...SHARED,
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether the registry and its access ledger answer, and the server is not shutting down',
      refusals: [503],
      async handle() {
        const reason = await findUnready();
        return reason === undefined
          ? ok({ status: 'ok' })
          : refusal(503, UNREADY[reason], { 'Retry-After': '5' }, reason);
      },
    },
  ];
}
