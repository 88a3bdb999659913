/** Who calls: the bearer key, checked on every request (docs/api.md#authentication). */
import { crc32 } from 'node:zlib';
import { API_KEY_LENGTH, hasExpired, isApiKey } from '../../domain/access/api-keys.ts';
import type { Refusal } from '../../domain/access/refusal-reasons.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import { hashKeyAsText } from '../../runtime/key-hash.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { ApiKeyStore } from '../../store/contract/api-keys.ts';
import { type ApiResponse, refusal } from '../declare/response.ts';
import type { Middleware } from './middleware.ts';

export const REALM = 'Bearer realm="cooperative-registry"';

const invalid = (detail: string, reason: Refusal) =>
  refusal(401, detail, { 'WWW-Authenticate': `${REALM}, error="invalid_token"` }, reason);

// Made once: a refusal must cost less than what it refuses.
const MISSING = refusal(
  401,
  'Authentication credentials were not provided.',
  { 'WWW-Authenticate': REALM },
  'missing_key',
);
const EMPTY = invalid('Invalid token header. No credentials provided.', 'malformed_header');
const WITH_SPACES = invalid(
  'Invalid token header. Token string should not contain spaces.',
  'malformed_header',
);
const MALFORMED = invalid('Invalid API key.', 'malformed_key');
const UNKNOWN = invalid('Invalid API key.', 'unknown_key');
const EXPIRED = invalid('Invalid API key.', 'expired');
const INACTIVE = invalid('API key is inactive.', 'disabled');

const BEARER = 'Bearer ';
const PLAIN_BEARER = /^Bearer [!-~]+$/;

/** @returns the token of an Authorization header, or a refusal in DRF's words */
function readBearerToken(header: string | undefined): string | ApiResponse {
  // As nearly everybody writes it.
  if (header !== undefined && PLAIN_BEARER.test(header)) return header.slice(BEARER.length);
  const [scheme = '', token, ...rest] = (header ?? '').trim().split(/[ \t]+/);
  if (scheme.toLowerCase() !== 'bearer') return MISSING;
  if (token === undefined) return EMPTY;
  return rest.length > 0 ? WITH_SPACES : token;
}

export interface AuthenticateDependencies {
  readonly keys: Pick<ApiKeyStore, 'findBySecret'>;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

export function authenticate({ keys, clock, scheduler }: AuthenticateDependencies): Middleware {
  const hashOf = openHashes(scheduler);

  return (request) => {
    if (request.route?.access === 'public') return undefined;
    const token = readBearerToken(request.incoming.headers.authorization);
    if (typeof token !== 'string') return token;
    if (token.length !== API_KEY_LENGTH) return MALFORMED;
    const now = nowSeconds(clock);
    const key = keys.findBySecret(hashOf(token), now);
    // The checksum only shows the operator which of the two it was: checked first, it would slow every key.
    if (key === undefined) return isApiKey(token, crc32) ? UNKNOWN : MALFORMED;
    // The log names the key, also when it is refused.
    request.caller = key;
    if (hasExpired(key, now)) return EXPIRED;
    return key.isActive ? undefined : INACTIVE;
  };
}

/**
 * Hashes of keys, each made once per iteration of the event loop: the requests that arrive together often
 * carry the same one. They are forgotten at its end: no key stays here longer than its requests do.
 */
function openHashes(scheduler: Scheduler): (token: string) => string {
  const hashes = new Map<string, string>();
  const forget = () => hashes.clear();
  return (token) => {
    let hash = hashes.get(token);
    if (hash === undefined) {
      if (hashes.size === 0) scheduler.atEnd('storage', forget);
      // As text, which is four times as fast to make and to find as bytes.
      hash = hashKeyAsText(token);
      hashes.set(token, hash);
    }
    return hash;
  };
}
