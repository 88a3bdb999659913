/** The registry's public API, asked until it answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
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
  /** Ends waiting when it is aborted. */
  readonly signal: AbortSignal;
  /** Called before each wait. */
  readonly onFault: (fault: string) => Promise<void>;
}

/** Held by the registry at most so long while there is no event (docs/api.md#events). */
const WAIT_SECONDS = 25;
const LONGEST_WAIT_MS = 30_000;
/** Between two parts of an answer, and before the first. */
const TIMEOUT_MS = 60_000;
/** At once: deploy/nginx.conf refuses more than 100 of one address, and others may share it. */
const CONNECTIONS = 64;
/** An export begins when all of its rows have been read. */
const EXPORT_TIMEOUT_MS = 3_600_000;
/** What a row, a list or an event may be refused with, and what that says. */
const ANSWERS = [200, 404, 410];
/** Refusals that pass, besides those from 500 on. */
const PASSING = [408, 409, 429];

/** @returns milliseconds until the next attempt */
function waitAfter(retryAfter: string | string[] | undefined, attempt: number): number {
  const seconds = Number(retryAfter ?? Number.NaN);
  if (Number.isFinite(seconds)) return Math.max(seconds * 1000, 500);
  return Math.min(250 * 2 ** attempt, LONGEST_WAIT_MS);
}

type Answer = Dispatcher.ResponseData;

/** An answer's text. Decoded here: undici's `setEncoding` breaks a character that comes in two chunks. */
async function* textsOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

export function openRegistryClient({ api, key, signal, onFault }: Options) {
  const agent = new Agent({ bodyTimeout: TIMEOUT_MS, connections: CONNECTIONS });
  const headers = {
    Authorization: `Bearer ${key}`,
    // It is in the registry's access ledger, beside the key.
    'X-Purpose': 'Mirror in PostgreSQL',
  };

  /**
   * Asks until there is an answer.
   * @param kind of path that faults name, as a path may hold a national ID
   * @throws LastingFault for a refusal that stays
   */
  async function ask<T>(
    path: string,
    kind: string,
    headersTimeout: number,
    read: (answer: Answer) => Promise<T>,
  ): Promise<T> {
    for (let tries = 0; ; tries++) {
      let answer: Answer | undefined;
      let fault: string;
      try {
        answer = await request(api + path, { headers, headersTimeout, dispatcher: agent });
        const { statusCode: status } = answer;
        if (ANSWERS.includes(status)) return await read(answer);
        await answer.body.dump();
        fault = `registry: status ${status} for ${kind}`;
        if (status < 500 && !PASSING.includes(status))
          throw new LastingFault(`${fault}${status < 404 ? ': look at REGISTRY_URL and the key' : ''}`);
      } catch (error) {
        signal.throwIfAborted();
        const { code, name } = error as { code?: string; name: string };
        if (answer === undefined) fault = `registry: no answer (${code ?? name})`;
        // The connection was lost, or what came is not complete.
        else if (error === answer.body.errored || error instanceof SyntaxError)
          fault = `registry: the answer for ${kind} broke off`;
        else throw error;
      }
      await onFault(fault);
      await sleep(waitAfter(answer?.headers['retry-after'], tries), undefined, { signal });
    }
  }

  const get = (path: string, kind: string) =>
    ask(path, kind, TIMEOUT_MS, async ({ statusCode, body }) => ({
      status: statusCode,
      body: (await body.json()) as { readonly detail?: string },
    }));

  /** @returns for what does not exist (any more), why */
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
      take: (texts: AsyncIterable<string>) => Promise<void>,
    ): Promise<{ readonly epoch: string; readonly sequence: number }> {
      return ask(path, 'an export', EXPORT_TIMEOUT_MS, async ({ statusCode, headers: given, body }) => {
        if (statusCode !== 200) throw new LastingFault(`registry: status ${statusCode} for an export`);
        await take(textsOf(body));
        const epoch = String(given['x-snapshot-epoch']);
        return { epoch, sequence: Number(given['x-snapshot-sequence']) };
      });
    },

    /** Breaks off what is under way. */
    close: () => agent.destroy(),
  };
}

export type RegistryClient = ReturnType<typeof openRegistryClient>;
