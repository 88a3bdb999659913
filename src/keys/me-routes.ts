/** `/me`: the calling key's permissions and restrictions, and its rate limits with their current usage. */
import { type ApiKey, SCOPES, type Visible } from '../access/api-keys.ts';
import type { RateLimiter, WindowUsage } from '../access/rate-limiter.ts';
import { ok } from '../http/declare/response.ts';
import { type Route, SHOWS_NO_ROWS } from '../http/declare/route.ts';
import type { NarrowableStore } from '../registry/registry-store.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import {
  array,
  boolean,
  choiceOf,
  integer,
  nullable,
  object,
  type Static,
  string,
} from '../values/schema.ts';

const WINDOW = object(
  {
    limit: integer({ minimum: 1, description: 'Requests in the window.' }),
    window_seconds: integer(),
    remaining: integer({ minimum: 0, description: 'Remaining requests, after this one.' }),
    reset_seconds: integer({
      minimum: 0,
      description: 'Seconds until at least one more request is possible.',
    }),
  },
  { title: 'RateLimitWindow' },
);

const ME = object(
  {
    id: string({ description: 'Opaque.' }),
    name: string(),
    scopes: array(choiceOf(SCOPES)),
    allowed_addresses: array(string(), { description: 'Empty: from anywhere.' }),
    allowed_hosts: array(string(), { description: 'Empty: for any host.' }),
    lookup_only: boolean({ description: 'Finds a person by the full national ID only.' }),
    allow_export: boolean({ description: 'May export the rows that its scopes allow.' }),
    cooperatives: nullable(
      array(string(), { description: 'Codes of the cooperatives that the key may see; null: all.' }),
    ),
    purpose: nullable(string({ description: 'Recorded where a request has no `X-Purpose`.' })),
    require_purpose: boolean({ description: 'Requests that show persons need `X-Purpose`.' }),
    expires_at: nullable(string({ format: 'date-time' }), {
      description: 'When the secret in use ends: after a rotation, or with the key. Null: never.',
    }),
    rate_limits: object({ hour: WINDOW, day: WINDOW }),
  },
  { title: 'Caller' },
);

const CALLER_EXAMPLE = {
  id: '1',
  name: 'demo financials',
  scopes: ['cooperatives:read', 'members:read', 'members:financials'],
  allowed_addresses: ['10.0.0.0/8'],
  allowed_hosts: [],
  lookup_only: false,
  allow_export: false,
  cooperatives: null,
  purpose: 'credit checks',
  require_purpose: false,
  expires_at: null,
  rate_limits: {
    hour: { limit: 1000, window_seconds: 3600, remaining: 998, reset_seconds: 3600 },
    day: { limit: 10_000, window_seconds: 86_400, remaining: 9998, reset_seconds: 86_400 },
  },
};

const formatWindow = (usage: WindowUsage): Static<typeof WINDOW> => ({
  limit: usage.limit,
  window_seconds: usage.windowMs / 1000,
  remaining: usage.remaining,
  reset_seconds: Math.ceil(usage.resetMs / 1000),
});

export function meRoutes(
  store: NarrowableStore,
  limiter: Pick<RateLimiter, 'usage'>,
  zone: TimeZone,
): Route[] {
  async function codesOf(visible: Visible): Promise<string[] | null> {
    if (visible === null) return null;
    const { cooperatives } = store.narrowedTo(visible);
    const rows = await Promise.all(visible.map((id) => cooperatives.find(id)));
    return rows.flatMap((cooperative) => cooperative?.code ?? []);
  }

  return [
    {
      method: 'GET',
      path: '/me',
      operationId: 'getCaller',
      summary: 'The scopes, restrictions, limits and usage of the key',
      tag: 'operation',
      access: 'any key',
      narrowed: SHOWS_NO_ROWS,
      personal: 'none',
      responses: { 200: { description: 'The caller.', schema: ME, example: CALLER_EXAMPLE } },
      async handle({ caller, visible }) {
        const key = caller as ApiKey;
        const cooperatives = await codesOf(visible);
        const { hour, day } = limiter.usage(key);
        const me: Static<typeof ME> = {
          id: String(key.id),
          name: key.name,
          scopes: [...key.scopes],
          allowed_addresses: [...key.allowedAddresses],
          allowed_hosts: [...key.allowedHosts],
          lookup_only: key.isLookupOnly,
          allow_export: key.mayExport,
          cooperatives,
          purpose: key.purpose,
          require_purpose: key.requiresPurpose,
          expires_at: key.expiresAt === null ? null : formatDateTime(key.expiresAt, zone),
          rate_limits: { hour: formatWindow(hour), day: formatWindow(day) },
        };
        return ok(me);
      },
    },
  ];
}
