/** One JSON line per request, written once per iteration of the event loop. */
import type { LogLevel } from '../config.ts';

export interface RequestEntry {
  readonly time: number;
  readonly requestId: string;
  readonly keyId: number | undefined;
  readonly method: string;
  /** The template of the route, never the path: a path may hold a national ID. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export interface AccessLog {
  request(entry: RequestEntry): void;
  /** A defect: its cause goes here and nowhere else. */
  defect(requestId: string, error: unknown): void;
  /** Something an operator should know, such as that the server listens. */
  note(message: string): void;
  /** Writes what is buffered now. */
  flush(): void;
}

/** Removes what could be a national ID or a key from a defect's text. */
export const redact = (text: string): string => text.replace(/[0-9]{6,}/g, '…').replace(/crs_\w*/g, 'crs_…');

/** @param write takes whole lines */
export function createAccessLog(
  level: LogLevel,
  write: (lines: string) => void,
  now: () => number,
): AccessLog {
  let buffer = '';
  let isScheduled = false;

  function flush(): void {
    isScheduled = false;
    if (buffer === '') return;
    const lines = buffer;
    buffer = '';
    write(lines);
  }

  function add(line: string): void {
    buffer += line;
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  let shownSecond = -1;
  let shownText = '';

  /** As toISOString gives it; the text of a second serves all its requests. */
  function timeOf(ms: number): string {
    const second = Math.floor(ms / 1000);
    if (second !== shownSecond) {
      shownSecond = second;
      shownText = new Date(second * 1000).toISOString().slice(0, 20);
    }
    return `${shownText}${String(Math.floor(ms) - second * 1000).padStart(3, '0')}Z`;
  }

  return {
    request(entry) {
      if (level !== 'info') return;
      // No value here needs escaping: ids are checked, templates and methods are ours.
      add(
        `{"time":"${timeOf(entry.time)}","request_id":"${entry.requestId}","key_id":${entry.keyId ?? null},"method":"${entry.method}","route":"${entry.route}","status":${entry.status},"duration_ms":${entry.durationMs.toFixed(3)}}\n`,
      );
    },
    defect(requestId, error) {
      if (level === 'silent') return;
      const cause = redact(error instanceof Error ? (error.stack ?? error.message) : String(error));
      add(
        `${JSON.stringify({ time: new Date(now()).toISOString(), level: 'error', request_id: requestId, cause })}\n`,
      );
    },
    note(message) {
      if (level !== 'info') return;
      add(`${JSON.stringify({ time: new Date(now()).toISOString(), level: 'info', message })}\n`);
    },
    flush,
  };
}
