/** How long a client may take: to send a request, to read its response, and between requests. */

/** Milliseconds until a client is dropped that sends no headers, no complete request, or does not read. */
export interface ServerTimeouts {
  readonly headersMs: number;
  /** From the first byte to the end of the body; the body's own limit of 30 s is in read-body.ts. */
  readonly requestMs: number;
  /** Without a byte in either direction, or without progress of a response; between requests, 65 s. */
  readonly idleMs: number;
  /** How long an orderly end waits for requests that have begun. */
  readonly closeMs: number;
}

export const DEFAULT_TIMEOUTS: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 42_000,
  idleMs: 60_000,
  closeMs: 10_000,
};
/** Between requests. Longer than the usual 60 s of a proxy, which then never uses a closing connection. */
export const KEEP_ALIVE_MS = 65_000;
