/** `backup DIR --every`: one backup after the other, until it is stopped (docs/backup.md#regular-backups). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { datedNameOf } from '../../store/ports/backup.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatBytes, formatInstant } from './backup-text.ts';

export interface BackupTimer {
  readonly everySeconds: number;
  /** How many complete backups stay. */
  readonly keep: number;
  readonly isJson: boolean;
}

/** After a backup that failed; sooner if the interval is shorter. */
const RETRY_MS = 10 * 60_000;
/** The wall clock is read again after this: it may have been set, or the machine may have slept. */
const MAX_SLEEP_MS = 30_000;

/** What one backup printed. */
interface ChildOutcome {
  readonly isDone: boolean;
  readonly out: string;
  readonly err: string;
}

/** Writes a backup whenever one is due, until SIGTERM or SIGINT. */
export async function runBackupTimer(
  context: CliContext,
  storage: Storage,
  parent: string,
  timer: BackupTimer,
): Promise<void> {
  const { clock } = context;
  const stopping = new AbortController();
  const onSignal = () => stopping.abort();
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
  try {
    await storage.removeIncompleteBackups(parent);
    let dueMs = await firstDue(storage, parent, timer, clock.now());
    for (;;) {
      if (!(await waitUntil(dueMs, clock.now, stopping.signal))) return;
      const startedMs = clock.now();
      const outcome = await writeOne(context, storage, join(parent, datedNameOf(startedMs)), stopping.signal);
      if (stopping.signal.aborted) {
        await storage.removeIncompleteBackups(parent);
        return;
      }
      const everyMs = timer.everySeconds * 1000;
      dueMs = startedMs + (outcome.isDone ? everyMs : Math.min(everyMs, RETRY_MS));
      if (outcome.isDone) await reportBackup(context, storage, parent, { outcome, startedMs, timer });
      else reportFailure(context, outcome, { dueMs, timer });
    }
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}

/** A restarted timer goes on where it was: otherwise each restart would push out an older backup. */
async function firstDue(
  storage: Storage,
  parent: string,
  timer: BackupTimer,
  nowMs: number,
): Promise<number> {
  const newest = (await storage.listBackups(parent)).at(-1);
  const everyMs = timer.everySeconds * 1000;
  return newest === undefined ? nowMs : Math.min(newest.instantMs, nowMs) + everyMs;
}

/** @returns false when the wait was ended */
async function waitUntil(dueMs: number, now: () => number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && now() < dueMs) {
    await sleep(Math.min(dueMs - now(), MAX_SLEEP_MS), undefined, { signal }).catch(() => undefined);
  }
  return !signal.aborted;
}

/** In a process of its own, which can be ended at once, also while it checks a large file. */
async function writeOne(
  context: CliContext,
  storage: Storage,
  target: string,
  signal: AbortSignal,
): Promise<ChildOutcome> {
  const args = ['backup', target, '--db', storage.location, '--json'];
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    env: context.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  try {
    const [out, err, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { isDone: status === EXIT.done, out, err };
  } catch (error) {
    throw new CommandError(EXIT.refused, `A backup cannot be started: ${(error as Error).message}.`);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function reportBackup(
  context: CliContext,
  storage: Storage,
  parent: string,
  report: { readonly outcome: ChildOutcome; readonly startedMs: number; readonly timer: BackupTimer },
): Promise<void> {
  const { outcome, startedMs, timer } = report;
  const written = JSON.parse(outcome.out) as { folder: string; files: { bytes: number }[] };
  const removed = await prune(context, storage, parent, timer.keep);
  const kept = (await storage.listBackups(parent)).length;
  if (timer.isJson) {
    context.out(`${JSON.stringify({ ...written, kept, removed })}\n`);
    return;
  }
  const bytes = written.files.reduce((sum, file) => sum + file.bytes, 0);
  const seconds = ((context.clock.now() - startedMs) / 1000).toFixed(1);
  context.out(
    `${written.folder}  ${formatBytes(bytes)}  ${seconds} s  kept ${kept}, removed ${removed.length}\n`,
  );
}

/** The backup itself has succeeded: the next one tries again to remove what is too many. */
async function prune(
  context: CliContext,
  storage: Storage,
  parent: string,
  keep: number,
): Promise<readonly string[]> {
  try {
    return await storage.pruneBackups(parent, keep);
  } catch (error) {
    context.err(`Older backups could not be removed: ${(error as Error).message}.\n`);
    return [];
  }
}

function reportFailure(
  context: CliContext,
  { err }: ChildOutcome,
  { dueMs, timer }: { readonly dueMs: number; readonly timer: BackupTimer },
): void {
  const reason = err.trim() === '' ? 'The process was ended.' : err.trim();
  const next = formatInstant(dueMs);
  if (timer.isJson) context.out(`${JSON.stringify({ failed: reason, next })}\n`);
  context.err(`Backup failed: ${reason} No older backup was removed. Next attempt at ${next}.\n`);
}
