/** The registry's public API, asked until it answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, setGlobalDispatcher } from 'undici';
import { LastingFault, SequenceEnded } from './faults.ts';

export type Row = { readonly [field: string]: unknown };

export interface RegistryEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly sequence: number;
  readonly actor: string;
  readonly data: { readonly id: string; readonly cooperative_id: string; readonly fields_changed: string[] };
}

export interface EventPage {
  readonly epoch: string;
  readonly results: readonly RegistryEvent[];
  readonly last_sequence: number;
}

interface Options {
  readonly api: string;
  readonly key: string;
  /** Ends everything when it is aborted. */
  readonly signal: AbortSignal;
  /** Called before each wait. */
  readonly onFault: (fault: string) => Promise<void>;
}

/** Held by the registry at most so long while there is no event (docs/api.md#events). */
const WAIT_SECONDS = 25;
const LONGEST_WAIT_MS = 30_000;
const ROW_TIMEOUT_MS = 60_000;
/** An export begins when all of its rows have been read. */
const EXPORT_TIMEOUT_MS = 3_600_000;
/** What a row, a list or an event may be refused with, and what that says. */
const ANSWERS = [200, 404, 410];

/** @returns milliseconds until the next attempt */
function waitAfter(response: Response | undefined, attempt: number): number {
  const seconds = Number(response?.headers.get('Retry-After') ?? Number.NaN);
  if (Number.isFinite(seconds)) return Math.max(seconds * 1000, 500);
  return Math.min(250 * 2 ** attempt, LONGEST_WAIT_MS);
}

// Else `fetch` gives up when an answer has not begun, or has paused, for five minutes.
setGlobalDispatcher(new Agent({ headersTimeout: 0, bodyTimeout: 0 }));

export function openRegistryClient({ api, key, signal, onFault }: Options) {
  // The purpose is in the registry's access ledger, beside the key.
  const headers = { Authorization: `Bearer ${key}`, 'X-Purpose': 'Mirror in PostgreSQL', Accept: '*/*' };

  /** One attempt. @returns what to wait for when there is no answer yet */
  async function attempt(path: string, timeoutMs: number): Promise<Response | { readonly fault: string }> {
    const signals = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const identity = { ...headers, 'Accept-Encoding': 'identity' };
    try {
      return await fetch(api + path, { headers: identity, signal: signals, redirect: 'manual' });
    } catch (error) {
      signal.throwIfAborted();
      const { code, name } = ((error as Error).cause ?? error) as { code?: string; name: string };
      return { fault: `registry: no answer (${code ?? name})` };
    }
  }

  /**
   * Asks until there is an answer.
   * @param kind of path that faults name, as a path may hold a national ID
   * @throws LastingFault for a refusal that stays
   */
  async function ask<T>(
    path: string,
    kind: string,
    timeoutMs: number,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    for (let tries = 0; ; tries++) {
      const response = await attempt(path, timeoutMs);
      let fault = 'fault' in response ? response.fault : `registry: status ${response.status} for ${kind}`;
      if (response instanceof Response) {
        const { status } = response;
        if (ANSWERS.includes(status)) {
          try {
            return await read(response);
          } catch (error) {
            signal.throwIfAborted();
            if (!isBroken(error)) throw error;
            fault = `registry: the answer for ${kind} broke off`;
          }
        } else {
          await response.body?.cancel();
          if (status < 500 && ![408, 409, 429].includes(status))
            throw new LastingFault(`${fault}${status < 404 ? ': look at REGISTRY_URL and the key' : ''}`);
        }
      }
      await onFault(fault);
      await sleep(waitAfter(response instanceof Response ? response : undefined, tries), undefined, {
        signal,
      });
    }
  }

  const json = async (response: Response) => (await response.json()) as { readonly detail?: string };
  const get = async (path: string, kind: string, timeoutMs = ROW_TIMEOUT_MS) =>
    ask(path, kind, timeoutMs, async (response) => ({ status: response.status, body: await json(response) }));

  /** @returns undefined for what does not exist (any more), and why */
  async function read(path: string, kind: string): Promise<{ row: Row } | { gone: string }> {
    const { status, body } = await get(path, kind);
    return status === 200 ? { row: body as Row } : { gone: body.detail ?? '' };
  }

  return {
    read,

    /** Every row of a list, which may be longer than a page. */
    async readAll(path: string, kind: string): Promise<{ rows: Row[] } | { gone: string }> {
      const rows = new Map<unknown, Row>();
      for (let page = 1; ; page++) {
        const found = await read(`${path}?page_size=200&page=${page}`, kind);
        // A later page is gone when the list has become shorter.
        if ('gone' in found) return page === 1 ? found : { rows: [...rows.values()] };
        const { results, next } = found.row as { results: Row[]; next: string | null };
        // A row may come twice when others came before it meanwhile.
        for (const row of results) rows.set(row.id, row);
        if (next === null) return { rows: [...rows.values()] };
      }
    },

    /** @throws SequenceEnded when everything must be loaded again */
    async events(after: number, epoch: string, limit: number, wait = WAIT_SECONDS): Promise<EventPage> {
      const path = `/events?after=${after}&epoch=${epoch}&limit=${limit}&wait=${wait}`;
      const { status, body } = await get(path, 'events');
      if (status === 410) throw new SequenceEnded('The sequence does not go on.');
      if (status !== 200) throw new LastingFault(`registry: status ${status} for events`);
      return body as unknown as EventPage;
    },

    /** Hands the lines of an export to `take`, again from the beginning when the answer breaks off. */
    async export(
      path: string,
      take: (lines: ReadableStream<Uint8Array>) => Promise<void>,
    ): Promise<{ readonly epoch: string; readonly sequence: number }> {
      return ask(path, 'an export', EXPORT_TIMEOUT_MS, async (response) => {
        if (response.status !== 200 || response.body === null)
          throw new LastingFault(`registry: status ${response.status} for an export`);
        await take(response.body as ReadableStream<Uint8Array>);
        const epoch = response.headers.get('X-Snapshot-Epoch') ?? '';
        return { epoch, sequence: Number(response.headers.get('X-Snapshot-Sequence')) };
      });
    },
  };
}

export type RegistryClient = ReturnType<typeof openRegistryClient>;

/** Whether reading a body failed because its connection was lost, or what came is not complete. */
const isBroken = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error instanceof TypeError && /terminated|fetch/.test(error.message)) ||
  (error as Error).name === 'TimeoutError';
