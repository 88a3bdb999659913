/** Why requests are refused for who asks, or how often: one word each, for the log, metrics and `keys`. */

/** Each with its meaning, as the documents list them. */
export const REFUSALS = {
  missing_key: 'there is no `Authorization: Bearer` header',
  malformed_header: 'the header has no key behind `Bearer`, or spaces in it',
  malformed_key: 'the text is not a key: mistyped, or cut short',
  unknown_key: 'no key has this secret: one of another registry, or one that a rotation has ended',
  disabled: 'the key is disabled',
  expired: 'the key has expired',
  address: 'the address of the client is not in the address allowlist',
  host: 'the host is not in the host allowlist',
  scope: 'the key lacks the scope that `cause` names',
  export: 'the key may not export',
  lookup_only: 'the key is for lookups only',
  cooperatives: 'the key is for some cooperatives, and the route is not for such keys',
  purpose: 'the request does not say why it reads, which the key must',
  throttled_hour: 'the requests of the hour are used up',
  throttled_day: 'the requests of the day are used up',
} as const;

export type Refusal = keyof typeof REFUSALS;
