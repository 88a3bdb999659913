/** The middleware of a request that has a route, in the order of docs/api.md#order-of-checks. */

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
import type { ApiRequest, Middleware } from '../declare/route.ts';
import { scopesOf } from '../declare/route.ts';
import type { OverloadGuard } from './refuse-overload.ts';

interface MiddlewareDependencies {
  readonly overload: Pick<OverloadGuard, 'refuse'>;
  readonly keys: Pick<ApiKeyStore, 'findBySecret'>;
  readonly trustedProxies: AddressBlocks;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Called when keys from an address have been refused often, at most once a minute for each address. */
  readonly noteAddress: (address: string) => void;
}

// Authentication: the bearer key, checked on every request (docs/api.md#authentication)

const invalid = (detail: string, reason: Refusal) =>
  refusal(401, detail, { 'WWW-Authenticate': `${REALM}, error="invalid_token"` }, reason);

// Created once: a refusal must cost less than the request that it refuses.
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

/** @returns the token of an Authorization header, or a refusal with Django REST framework's wording */
function readBearerToken(header: string | undefined): string | ApiResponse {
  // The usual form
  if (header !== undefined && PLAIN_BEARER.test(header)) return header.slice(BEARER.length);
  const [scheme = '', token, ...rest] = (header ?? '').trim().split(/[ \t]+/);
  if (scheme.toLowerCase() !== 'bearer') return MISSING;
  if (token === undefined) return EMPTY;
  return rest.length > 0 ? WITH_SPACES : token;
}

/** Responses announce the end of a secret this long before (docs/keys.md#change-disable-rotate). */
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
    // The checksum only tells operators which of the two it was; checked first, it would slow every valid
    // key.
    if (key === undefined) return isApiKey(token) ? UNKNOWN : MALFORMED;
    // Set before the checks below, so that the log names a refused key too.
    request.caller = key;
    if (hasExpired(key, now)) return EXPIRED;
    if (!key.isActive) return INACTIVE;
    if (key.expiresAt !== null && key.expiresAt <= now + ANNOUNCED_SECONDS)
      request.headers['X-Key-Expires'] = new Date(key.expiresAt * 1000).toUTCString();
    return undefined;
  };
}

/**
 * Returns a hash function for keys that caches each hash for one iteration of the event loop: requests that
 * arrive together often carry the same key. The cache is cleared at the end of the iteration, so no key stays
 * in memory longer than its requests.
 */
function openHashes(scheduler: Scheduler): (token: string) => string {
  const hashes = new Map<string, string>();
  const forget = () => hashes.clear();
  return (token) => {
    let hash = hashes.get(token);
    if (hash === undefined) {
      if (hashes.size === 0) scheduler.atEnd('storage', forget);
      // Text is four times as fast to compute and look up as bytes.
      hash = hashKeyAsText(token);
      hashes.set(token, hash);
    }
    return hash;
  };
}

// Detection of addresses with many refused keys (docs/operating.md#log). They are counted and logged, never
// refused: other clients with valid keys may share the address.

/** Refusals of an address within a minute after which the log names it. */
export const OFTEN = 100;
const MINUTE_MS = 60_000;
/** Maximum counted addresses. An address with over a thousandth of the refusals is always detected. */
const MOST_ADDRESSES = 1_000;

export class RefusedAddresses {
  private readonly counts = new Map<string, number>();
  private readonly reported = new Set<string>();
  private sinceMs = Number.NEGATIVE_INFINITY;

  /**
   * @param nowMs monotonic milliseconds
   * @returns true if the address has been refused often; at most once a minute for each address
   */
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

  /** Decrements every count instead of adding an address: frequent ones stay (Misra and Gries, 1982). */
  private countDown(): void {
    for (const [address, count] of this.counts) {
      if (count === 1) this.counts.delete(address);
      else this.counts.set(address, count - 1);
    }
  }
}

// The client's address, behind proxies too, and the allowlists of keys (docs/api.md#authentication)

/**
 * Returns the client's address: the socket's peer or, behind trusted proxies, the first address of
 * `X-Forwarded-For` from the right that is not one of them.
 * @returns undefined when a trusted proxy sends no address that can be parsed
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: AddressBlocks,
): Address | undefined {
  const socketAddress = peer === undefined ? undefined : parseAddress(peer.replace(/%.*$/, ''));
  if (socketAddress === undefined || !trusted.has(socketAddress)) return socketAddress;
  for (const hop of (forwardedFor ?? '').split(',').reverse()) {
    const address = parseAddress(hop.trim());
    if (address === undefined || !trusted.has(address)) return address;
  }
  return undefined;
}

/**
 * Returns the client's address as text, for records.
 * @returns null if the address is unknown
 */
export function clientAddressText(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusted: AddressBlocks,
): string | null {
  const { remoteAddress: peer } = socket;
  // Every response with personal data passes here, and most services trust no proxy: skip parsing.
  if (trusted.texts.length === 0) return peer?.replace(/^::ffff:(?=[0-9.]+$)|%.*$/g, '') ?? null;
  return clientAddress(peer, headers['x-forwarded-for']?.toString(), trusted)?.toString() ?? null;
}

const WRONG_ADDRESS = refusal(403, PERMISSION_DENIED, {}, 'address');
const WRONG_HOST = refusal(403, PERMISSION_DENIED, {}, 'host');

function restrict(trustedProxies: AddressBlocks): Middleware {
  // A key object stays the same until a change of keys is detected, so its blocks are parsed once.
  const parsed = new WeakMap<ApiKey, AddressBlocks>();
  function blocksOf(key: ApiKey): AddressBlocks {
    let blocks = parsed.get(key);
    if (blocks === undefined) {
      const allowed = parseAddressBlocks(key.allowedAddresses);
      // The command stores canonical blocks only. Anything else in a database admits no address.
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

/** True if the host allowlist covers the request's host; false for a key without hosts. */
export function admitsHost({ allowedHosts }: Pick<ApiKey, 'allowedHosts'>, headers: NamingHeaders): boolean {
  if (allowedHosts.length === 0) return false;
  const domain = requestDomain(headers) ?? '';
  return allowedHosts.some((pattern) => matchesHost(pattern, domain));
}

/**
 * Returns the host of `Origin`, else `Referer`, else `Host`. Clients choose these: this only prevents misuse.
 */
export function requestDomain(headers: NamingHeaders): string | undefined {
  const url =
    headers.origin ?? headers.referer ?? (headers.host === undefined ? undefined : `http://${headers.host}`);
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.toLowerCase().replace(/\.$/, '') || undefined;
}

/** `*.example.rw` matches any depth below, not the domain itself (docs/keys.md#create). */
export function matchesHost(pattern: string, domain: string): boolean {
  return pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

// Scopes (docs/api.md#authentication)

/** Returns status 403 if the key lacks a scope of the route. */
function requireScope({ caller, route }: ApiRequest): ApiResponse | undefined {
  if (route === undefined || typeof route.access === 'string') return undefined;
  const scopes = scopesOf(route);
  return scopes.every((scope) => caller?.scopes.includes(scope)) ? undefined : refuseWithout(...scopes);
}

// Rate limits, and the headers that report the remaining quota (docs/api.md#rate-limits)

const toSeconds = (ms: number): number => Math.ceil(ms / 1000);

/**
 * Returns a function that counts requests in the hourly and the daily window: all of them, or none. It
 * refuses with status 429 while they do not fit, and with 400 if they never can.
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
    // If neither window has room, the day is named.
    const reason = decision.day.remaining < taken ? 'throttled_day' : 'throttled_hour';
    return refusal(429, detail, { 'Retry-After': String(seconds) }, reason);
  };
}

// A key's limits are one object until a change of keys is detected.
const policies = new WeakMap<RateLimits, string>();

/** Returns the value of `RateLimit-Policy`. */
function policyOf(limits: RateLimits): string {
  let policy = policies.get(limits);
  if (policy === undefined) {
    policy = formatPolicy(limits.perHour, limits.perDay);
    policies.set(limits, policy);
  }
  return policy;
}

const usageOf = (name: string, { remaining, resetMs }: WindowUsage): string =>
  `"${name}";r=${remaining};t=${toSeconds(resetMs)}`;

function addUsage(headers: Headers, limits: RateLimits, { hour, day }: Decision, nowMs: number): void {
  headers['RateLimit-Policy'] = policyOf(limits);
  headers.RateLimit = `${usageOf('hour', hour)}, ${usageOf('day', day)}`;
  // The window with the least left; on a tie the longer one
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

/** Returns 403 if the key's restrictions forbid the request, or 400 if a required purpose is missing. */
function refuseByKey(request: ApiRequest): ApiResponse | undefined {
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

/** Returns middleware that runs all checks in order until one refuses. */
export function createMiddleware(dependencies: MiddlewareDependencies): Middleware {
  const { overload, trustedProxies, limiter, clock, noteAddress } = dependencies;
  const limit = limitRate(limiter, clock);
  const check = chain([
    overload.refuse,
    authenticate(dependencies),
    restrict(trustedProxies),
    requireScope,
    refuseByKey,
    // A request that counts as several is limited once its body has said how many.
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

/** Combines middleware into one that runs each in turn until one refuses. */
export const chain =
  (stages: readonly Middleware[]): Middleware =>
  (request) => {
    for (const stage of stages) {
      const refused = stage(request);
      if (refused !== undefined) return refused;
    }
    return undefined;
  };
