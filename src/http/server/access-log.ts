/** Access log with one JSON line per request. Lines are written once per event-loop iteration. */

import type { Refusal } from '../../access/api-keys.ts';
import type { LogLevel } from '../../runtime/config.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { UnavailableReason } from '../../values/errors.ts';

interface RequestEntry {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly requestId: string;
  readonly keyId: number | undefined;
  readonly method: string;
  /** Route template, because a path may contain a national ID. Empty if no route matched. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Reason why the key was refused, or why the service was unavailable. */
  readonly reason?: Refusal | UnavailableReason | undefined;
  /** Scope that the key lacks, or errors that made the service unavailable. */
  readonly cause?: string | undefined;
  /** True if the client disconnected before the entire response was sent. */
  readonly isAborted?: boolean;
}

export type AccessLog = ReturnType<typeof createAccessLog>;

/** Hides everything in a text that could be a national ID or an API key. */
export const redact = (text: string): string => text.replace(/[0-9]{6,}/g, '…').replace(/crs_\w*/g, 'crs_…');

interface AccessLogOptions {
  readonly level: LogLevel;
  /** Receives complete lines. */
  readonly write: (lines: string) => void;
  readonly now: () => number;
  readonly scheduler: Scheduler;
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

export function createAccessLog({ level, write, now, scheduler }: AccessLogOptions) {
  let buffer = '';
  let isScheduled = false;
  const counts = new Map<string, number>();

  function flush(): void {
    isScheduled = false;
    if (buffer === '') return;
    const lines = buffer;
    buffer = '';
    write(lines);
  }

  function addCounts(): void {
    for (const [message, times] of counts)
      add(`${JSON.stringify({ time: timeOf(now()), level: 'error', message, times })}\n`);
    counts.clear();
  }

  function count(message: string): void {
    if (level === 'silent') return;
    if (counts.size === 0) setTimeout(addCounts, COUNTED_MS).unref();
    counts.set(message, (counts.get(message) ?? 0) + 1);
  }

  function add(line: string): void {
    buffer += line;
    if (isScheduled) return;
    isScheduled = true;
    scheduler.atEnd('log', flush);
  }

  return {
    request(entry: RequestEntry) {
      if (level === 'silent' || (level === 'error' && entry.status < 500)) return;
      const { reason, cause, isAborted } = entry;
      // Logging each refusal would cost as much as the refusal itself.
      if (reason === 'overloaded') return count('overloaded: requests refused with 503');
      // Only the cause needs escaping: request IDs are validated, and the program defines all other texts.
      const more =
        (reason === undefined ? '' : `,"reason":"${reason}"`) +
        (cause === undefined ? '' : `,"cause":${JSON.stringify(redact(cause))}`) +
        (isAborted === true ? ',"aborted":true' : '');
      add(
        `{"time":"${timeOf(entry.time)}","request_id":"${entry.requestId}","key_id":${entry.keyId ?? null}` +
          `,"method":"${entry.method}","route":"${entry.route}","status":${entry.status}` +
          `,"duration_ms":${entry.durationMs.toFixed(3)}${more}}\n`,
      );
    },
    unexpected(requestId: string, error: unknown): void {
      if (level === 'silent') return;
      const cause = redact(stacksOf(error));
      add(`${JSON.stringify({ time: timeOf(now()), level: 'error', request_id: requestId, cause })}\n`);
    },
    note(message: string): void {
      if (level !== 'info') return;
      add(`${JSON.stringify({ time: timeOf(now()), level: 'info', message })}\n`);
    },
    /** Counts a closed connection under its log message. The counts are logged within a second. */
    connectionClosed: count,
    flush(): void {
      addCounts();
      flush();
    },
  };
}

const COUNTED_MS = 1_000;

const MAX_CAUSES = 5;

function stacksOf(error: unknown, causes = 0): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  if (error.cause === undefined || causes === MAX_CAUSES) return text;
  return `${text}\ncaused by ${stacksOf(error.cause, causes + 1)}`;
}
