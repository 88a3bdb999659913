/** Checks of requests that match a route, in the order of docs/api.md#order-of-checks. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ApiKeyStore } from '../../access/api-key-store.ts';
import {
  API_KEY_LENGTH,
  type ApiKey,
  hasExpired,
  hashKeyAsText,
  isApiKey,
  type Refusal,
} from '../../access/api-keys.ts';
import {
  type Decision,
  formatPolicy,
  type RateLimiter,
  type RateLimits,
  type WindowUsage,
} from '../../access/rate-limiter.ts';
import { type Clock, nowSeconds, type Scheduler } from '../../runtime/scheduler.ts';
import {
  type Address,
  type AddressBlocks,
  parseAddress,
  parseAddressBlocks,
} from '../../values/address-blocks.ts';
import { DAY_SECONDS } from '../../values/date-time.ts';
import { counted } from '../../values/text.ts';
import {
  type ApiResponse,
  type Headers,
  PERMISSION_DENIED,
  REALM,
  refusal,
  refuseWithout,
} from '../declare/response.ts';
import { type ApiRequest, type Middleware, scopesOf } from '../declare/route.ts';

/** Removes the zone index that the system appends to a link-local address. */
export const parsePeer = (peer = ''): Address | undefined => parseAddress(peer.replace(/%.*$/, ''));

/**
 * Returns the client's address: the peer of the socket or, behind trusted proxies, the rightmost address of
 * `X-Forwarded-For` that is not a trusted proxy.
 * @returns undefined if a trusted proxy sends an address that cannot be parsed
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: AddressBlocks,
): Address | undefined {
  const socketAddress = parsePeer(peer);
  if (socketAddress === undefined || !trusted.has(socketAddress)) return socketAddress;
  for (const hop of (forwardedFor ?? '').split(',').reverse()) {
    const address = parseAddress(hop.trim());
    if (address === undefined || !trusted.has(address)) return address;
  }
  return undefined;
}

export function clientAddressText(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusted: AddressBlocks,
): string | null {
  const { remoteAddress: peer } = socket;
  // Usually there are no trusted proxies. Then the address is not parsed, to save time.
  if (trusted.texts.length === 0) return peer?.replace(/^::ffff:(?=[0-9.]+$)|%.*$/g, '') ?? null;
  return clientAddress(peer, headers['x-forwarded-for']?.toString(), trusted)?.toString() ?? null;
}

const WRONG_ADDRESS = refusal(403, PERMISSION_DENIED, {}, 'address');
const WRONG_HOST = refusal(403, PERMISSION_DENIED, {}, 'host');

function checkAllowlists(trustedProxies: AddressBlocks): Middleware {
  // The object of a key stays the same until keys change, so the blocks are parsed once.
  const parsed = new WeakMap<ApiKey, AddressBlocks>();
  function blocksOf(key: ApiKey): AddressBlocks {
    let blocks = parsed.get(key);
    if (blocks === undefined) {
      const allowed = parseAddressBlocks(key.allowedAddresses);
      // Commands store only valid blocks. If the database contains another text, no address is allowed.
      blocks = 'has' in allowed ? allowed : { texts: [], has: () => false };
      parsed.set(key, blocks);
    }
    return blocks;
  }

  return ({ caller, incoming }) => {
    if (caller === undefined) return undefined;
    if (caller.allowedAddresses.length > 0) {
      const forwardedFor = incoming.headers['x-forwarded-for'];
      const peer = incoming.socket.remoteAddress;
      const address = clientAddress(peer, forwardedFor?.toString(), trustedProxies);
      if (address === undefined || !blocksOf(caller).has(address)) return WRONG_ADDRESS;
    }
    return caller.allowedHosts.length > 0 && !admitsHost(caller, incoming.headers) ? WRONG_HOST : undefined;
  };
}

type NamingHeaders = Pick<IncomingHttpHeaders, 'origin' | 'referer' | 'host'>;

/** True if the key's host allowlist contains the host in the headers; false without an allowlist. */
export function admitsHost({ allowedHosts }: Pick<ApiKey, 'allowedHosts'>, headers: NamingHeaders): boolean {
  if (allowedHosts.length === 0) return false;
  const domain = requestDomain(headers) ?? '';
  return allowedHosts.some((pattern) => matchesHost(pattern, domain));
}

/**
 * Returns the host in the header `Origin`, else in `Referer`, else in `Host`. Clients can send any headers,
 * so the check prevents only accidental misuse.
 */
export function requestDomain(headers: NamingHeaders): string | undefined {
  const url =
    headers.origin ?? headers.referer ?? (headers.host === undefined ? undefined : `http://${headers.host}`);
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.toLowerCase().replace(/\.$/, '') || undefined;
}

/** The pattern `*.example.rw` matches only subdomains of `example.rw` (docs/keys.md#create). */
export function matchesHost(pattern: string, domain: string): boolean {
  return pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

interface MiddlewareDependencies {
  readonly overload: { readonly refuse: Middleware };
  readonly keys: Pick<ApiKeyStore, 'findBySecret'>;
  readonly trustedProxies: AddressBlocks;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Called if many requests from an address get 401 or 403, at most once a minute for each address. */
  readonly noteAddress: (address: string) => void;
}

// Authentication: the bearer key, checked on every request (docs/api.md#authentication)

const invalid = (detail: string, reason: Refusal) =>
  refusal(401, detail, { 'WWW-Authenticate': `${REALM}, error="invalid_token"` }, reason);

// Created once, because a refusal must cost less than the refused request.
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

/** Refuses in the words of Django REST framework. */
function readBearerToken(header: string | undefined): string | ApiResponse {
  if (header !== undefined && PLAIN_BEARER.test(header)) return header.slice(BEARER.length);
  const [scheme = '', token, ...rest] = (header ?? '').trim().split(/[ \t]+/);
  if (scheme.toLowerCase() !== 'bearer') return MISSING;
  if (token === undefined) return EMPTY;
  return rest.length > 0 ? WITH_SPACES : token;
}

/** Responses have X-Key-Expires this long before a secret expires (docs/keys.md#change-disable-rotate). */
const ANNOUNCED_SECONDS = 7 * DAY_SECONDS;

function authenticate({ keys, clock, scheduler }: MiddlewareDependencies): Middleware {
  const hashOf = openHashes(scheduler);

  return (request) => {
    if (request.route?.access === 'public') return undefined;
    const token = readBearerToken(request.incoming.headers.authorization);
    if (typeof token !== 'string') return token;
    if (token.length !== API_KEY_LENGTH) return MALFORMED;
    const now = nowSeconds(clock);
    const key = keys.findBySecret(hashOf(token), now);
    // The checksum only tells operators whether a key is unknown or malformed. If the checksum were checked
    // first, requests with valid keys would take longer.
    if (key === undefined) return isApiKey(token) ? UNKNOWN : MALFORMED;
    // Set before the checks below, so that the log names the key even if the request is refused. `visible`,
    // the cooperatives whose rows handlers read, is derived from it.
    request.caller = key;
    if (hasExpired(key, now)) return EXPIRED;
    if (!key.isActive) return INACTIVE;
    if (key.expiresAt !== null && key.expiresAt <= now + ANNOUNCED_SECONDS)
      request.headers['X-Key-Expires'] = new Date(key.expiresAt * 1000).toUTCString();
    return undefined;
  };
}

/**
 * Caches hashes, because requests that arrive together often have the same key. The cache is cleared after
 * each event-loop iteration, so that no key stays in memory longer than its requests.
 */
function openHashes(scheduler: Scheduler): (token: string) => string {
  const hashes = new Map<string, string>();
  const forget = () => hashes.clear();
  return (token) => {
    let hash = hashes.get(token);
    if (hash === undefined) {
      if (hashes.size === 0) scheduler.atEnd('storage', forget);
      // With text instead of bytes, computing and looking up a hash is four times as fast.
      hash = hashKeyAsText(token);
      hashes.set(token, hash);
    }
    return hash;
  };
}

// Detection of addresses from which many requests are refused with 401 or 403 (docs/operating.md#log). Such
// an address is logged but never refused, because clients with valid keys may share the address.

/** The log names an address after this many refusals within a minute. */
export const OFTEN = 100;
const MINUTE_MS = 60_000;
/** Maximum number of counted addresses. An address with over 0.1% of the refusals is always counted. */
const MOST_ADDRESSES = 1_000;

export class RefusedAddresses {
  private readonly counts = new Map<string, number>();
  private readonly reported = new Set<string>();
  private sinceMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs monotonic @returns true, at most once a minute, if the address has many refusals */
  count(address: string, nowMs: number): boolean {
    if (nowMs - this.sinceMs >= MINUTE_MS) {
      this.sinceMs = nowMs;
      this.counts.clear();
      this.reported.clear();
    }
    const count = this.counts.get(address);
    if (count === undefined && this.counts.size >= MOST_ADDRESSES) this.countDown();
    else this.counts.set(address, (count ?? 0) + 1);
    if ((count ?? 0) + 1 < OFTEN || this.reported.has(address)) return false;
    this.reported.add(address);
    return true;
  }

  /** Makes room by decrementing all counts. Frequent addresses stay (Misra and Gries, 1982). */
  private countDown(): void {
    for (const [address, count] of this.counts) {
      if (count === 1) this.counts.delete(address);
      else this.counts.set(address, count - 1);
    }
  }
}

function requireScope({ caller, route }: ApiRequest): ApiResponse | undefined {
  if (route === undefined || typeof route.access === 'string') return undefined;
  const scopes = scopesOf(route);
  return scopes.every((scope) => caller?.scopes.includes(scope)) ? undefined : refuseWithout(...scopes);
}

// Rate limits, and the headers with the remaining quota (docs/api.md#rate-limits)

const toSeconds = (ms: number): number => Math.ceil(ms / 1000);

/**
 * If `count` exceeds the remaining quota, refuses with status 429 and counts nothing. If `count` exceeds even
 * a limit of the key, refuses with status 400 and counts one request.
 */
export function limitRate(limiter: RateLimiter, clock: Clock) {
  return ({ caller, headers }: ApiRequest, count: number): ApiResponse | undefined => {
    if (caller === undefined) return undefined;
    const most = Math.min(caller.limits.perHour, caller.limits.perDay);
    const isPossible = count <= most;
    const taken = isPossible ? count : 1;
    const decision = limiter.take(caller, taken);
    addUsage(headers, caller.limits, decision, clock.now());
    if (decision.admitted && !isPossible)
      return refusal(400, `The limits of this key admit ${counted(most, 'request')} at once, not ${count}.`);
    if (decision.admitted) return undefined;
    const seconds = toSeconds(decision.waitMs);
    const detail = `Request was throttled. Expected available in ${counted(seconds, 'second')}.`;
    // If both windows are full, the reason names the day.
    const reason = decision.day.remaining < taken ? 'throttled_day' : 'throttled_hour';
    return refusal(429, detail, { 'Retry-After': String(seconds) }, reason);
  };
}

const usageOf = (name: string, { remaining, resetMs }: WindowUsage): string =>
  `"${name}";r=${remaining};t=${toSeconds(resetMs)}`;

function addUsage(headers: Headers, limits: RateLimits, { hour, day }: Decision, nowMs: number): void {
  headers['RateLimit-Policy'] = formatPolicy(limits.perHour, limits.perDay);
  headers.RateLimit = `${usageOf('hour', hour)}, ${usageOf('day', day)}`;
  // The window with fewer requests left; the day if both windows have equally many left.
  const tightest = hour.remaining < day.remaining ? hour : day;
  headers['X-RateLimit-Limit'] = String(tightest.limit);
  headers['X-RateLimit-Remaining'] = String(tightest.remaining);
  headers['X-RateLimit-Reset'] = String(toSeconds(nowMs + tightest.resetMs));
}

// Requests that a restricted key may not make (docs/keys.md#restricted-keys, docs/keys.md#exports)

const LOOKUP_ONLY = refusal(403, PERMISSION_DENIED, {}, 'lookup_only');
const NO_EXPORT = refusal(403, PERMISSION_DENIED, {}, 'export');
const NO_PURPOSE = refusal(400, 'X-Purpose: This key must say why it reads.', {}, 'purpose');
const SOME_COOPERATIVES = refusal(403, PERMISSION_DENIED, {}, 'cooperatives');

function checkRestrictions(request: ApiRequest): ApiResponse | undefined {
  const { caller, route } = request;
  if (caller === undefined || route === undefined) return undefined;
  if (typeof route.access === 'object' && route.access.isExport === true && !caller.mayExport)
    return NO_EXPORT;
  if (caller.isLookupOnly) {
    const { lookupOnly } = route.narrowed;
    const isAllowed = typeof lookupOnly === 'function' ? lookupOnly(request) : lookupOnly === 'allowed';
    if (!isAllowed) return LOOKUP_ONLY;
  }
  if (caller.cooperatives !== null && route.narrowed.cooperatives === 'refused') return SOME_COOPERATIVES;
  const isPurposeMissing = route.personal !== 'none' && request.incoming.headers['x-purpose'] === undefined;
  return caller.requiresPurpose && isPurposeMissing ? NO_PURPOSE : undefined;
}

export function createMiddleware(dependencies: MiddlewareDependencies): Middleware {
  const { overload, trustedProxies, limiter, clock, noteAddress } = dependencies;
  const limit = limitRate(limiter, clock);
  const check = chain([
    overload.refuse,
    authenticate(dependencies),
    checkAllowlists(trustedProxies),
    requireScope,
    checkRestrictions,
    // If the body decides how many requests to count, the limit is checked after the body has been read.
    (request) => (request.route?.countRequests === undefined ? limit(request, 1) : undefined),
  ]);
  const addresses = new RefusedAddresses();
  return (request) => {
    const response = check(request);
    if (response?.status !== 401 && response?.status !== 403) return response;
    const address = clientAddressText(request.incoming, trustedProxies);
    if (address !== null && addresses.count(address, clock.monotonicMs())) noteAddress(address);
    return response;
  };
}

export const chain =
  (stages: readonly Middleware[]): Middleware =>
  (request) => {
    for (const stage of stages) {
      const refused = stage(request);
      if (refused !== undefined) return refused;
    }
    return undefined;
  };
