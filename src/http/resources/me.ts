/** The caller itself: what its key may do, from where, how often, and what of it is used. */
import Type, { type Static } from 'typebox';
import { type ApiKey, SCOPES, type Scope } from '../../domain/api-keys.ts';
import { formatDateTime, type TimeZone } from '../../domain/date-time.ts';
import type { Decision, WindowUsage } from '../../domain/rate-limit.ts';
import { type RateLimiter, whenReady } from '../../store/ports.ts';
import { nullable } from '../fields.ts';
import { ok } from '../response.ts';
import type { Route } from '../route.ts';

const WINDOW = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, description: 'Requests in the window.' }),
    window_seconds: Type.Integer(),
    remaining: Type.Integer({ minimum: 0, description: 'Left now; this request has been counted.' }),
    reset_seconds: Type.Integer({ minimum: 0, description: 'Seconds until at least one more is free.' }),
  },
  { title: 'RateLimitWindow', additionalProperties: false },
);

const ME = Type.Object(
  {
    id: Type.String({ description: 'Opaque.' }),
    name: Type.String(),
    scopes: Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: [...SCOPES] })),
    allowed_addresses: Type.Array(Type.String(), { description: 'Empty: from anywhere.' }),
    allowed_hosts: Type.Array(Type.String(), { description: 'Empty: for any host.' }),
    expires_at: nullable(Type.String({ format: 'date-time' })),
    rate_limits: Type.Object({ hour: WINDOW, day: WINDOW }, { additionalProperties: false }),
  },
  { title: 'Caller', additionalProperties: false },
);

const formatWindow = (usage: WindowUsage): Static<typeof WINDOW> => ({
  limit: usage.limit,
  window_seconds: usage.windowMs / 1000,
  remaining: usage.remaining,
  reset_seconds: Math.ceil(usage.resetMs / 1000),
});

export function meRoutes(limiter: Pick<RateLimiter, 'usage'>, zone: TimeZone): Route[] {
  function format(key: ApiKey, usage: Pick<Decision, 'hour' | 'day'>): Static<typeof ME> {
    return {
      id: String(key.id),
      name: key.name,
      scopes: [...key.scopes],
      allowed_addresses: [...key.allowedAddresses],
      allowed_hosts: [...key.allowedHosts],
      expires_at: key.expiresAt === null ? null : formatDateTime(key.expiresAt, zone),
      rate_limits: { hour: formatWindow(usage.hour), day: formatWindow(usage.day) },
    };
  }

  return [
    {
      method: 'GET',
      path: '/me',
      operationId: 'getCaller',
      summary: "The calling key's scopes, restrictions, limits and usage",
      tag: 'operation',
      access: 'any key',
      answers: { 200: { description: 'The caller.', schema: ME } },
      handle({ caller }) {
        const key = caller as ApiKey;
        return whenReady(limiter.usage(key), (usage) => ok(format(key, usage)));
      },
    },
  ];
}
