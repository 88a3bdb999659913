/** Replays a trace to many moments, cuts the power at each, and looks at the registry that is left. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { command } from '../../support/command.ts';
import { openFile } from '../../support/sqlite.ts';
import { findLedgerFaults } from '../../support/sqlite-ledger-faults.ts';
import { createRandom } from '../random.ts';
import { Disk } from './disk.ts';
import { createFate } from './fate.ts';
import { findLosses, IMPORTED, type Marks, mark, noMarks } from './marks.ts';
import { readTrace } from './trace.ts';

export interface ReplayTask {
  readonly trace: string;
  /** The registry as it was before the trace, and its folder while it was traced. */
  readonly before: string;
  readonly folder: string;
  /** Where cuts are laid out; in memory, where there is room. */
  readonly scratch: string;
  readonly cuts: number;
  readonly seed: number;
  /** After so many cuts the command `check` looks as well. */
  readonly checkEach: number;
}

export interface ReplayReport {
  readonly cuts: number;
  readonly checked: number;
  /** Cuts after which something acknowledged was not there. */
  readonly losing: number;
  /** Cuts after which something was damaged or there by half. */
  readonly unsound: number;
  /** Cuts after which the ledger lacked a response that had left, or did not hold together. */
  readonly unrecorded: number;
  /** Writes that were acknowledged, and responses with personal data, in all. */
  readonly acknowledged: number;
  readonly receipts: number;
}

/** What a replay says while it goes on. */
export interface ReplayProgress {
  readonly cuts: number;
  /** What the last cut has done, if anything. */
  readonly found?: string;
}

const EXAMPLES = 5;

async function replay(
  task: ReplayTask,
  onProgress: (progress: ReplayProgress) => void,
): Promise<ReplayReport> {
  const random = createRandom(task.seed);
  const events = readTrace(task.trace, task.folder);
  const moments = Array.from({ length: task.cuts }, () => Math.floor(random() * events.length)).sort(
    (a, b) => a - b,
  );
  const disk = new Disk(task.before, task.folder);
  const marks = noMarks();
  const soundBackups: Buffer[] = [];
  let [taken, checked, losing, unsound, unrecorded, shown] = [0, 0, 0, 0, 0, 0];
  for (const [cut, moment] of moments.entries()) {
    for (; taken <= moment; taken++) {
      const event = events[taken];
      if (event === undefined) continue;
      disk.take(event);
      mark(marks, event);
    }
    const isChecked = cut % task.checkEach === task.checkEach - 1;
    if (isChecked) checked++;
    const files = disk.afterCut(createFate(random));
    const found = await lookAfterCut(files, { ...task, marks, isChecked, soundBackups });
    const ledger = findLedgerFaults(join(task.scratch, 'registry.db'), marks.receipts);
    ledger.push(...marks.unrecorded);
    if (found.lost > 0) losing++;
    if (found.unsound.length > 0) unsound++;
    if (ledger.length > 0) unrecorded++;
    const isFound = found.lost > 0 || found.unsound.length > 0 || ledger.length > 0;
    if (isFound && shown++ < EXAMPLES) {
      const faults = [...found.unsound, ...ledger].join('; ');
      onProgress({ cuts: cut + 1, found: `event ${moment}: ${found.lost} lost; ${faults}` });
    } else if (cut % 100 === 99) onProgress({ cuts: cut + 1 });
  }
  const { rows, receipts } = marks;
  const counts = { cuts: task.cuts, checked, losing, unsound, unrecorded };
  return { ...counts, acknowledged: rows.size, receipts: receipts.size };
}

interface Look extends Pick<ReplayTask, 'folder' | 'scratch'> {
  readonly marks: Marks;
  readonly isChecked: boolean;
  /** The last backup that was looked at and was sound. */
  readonly soundBackups: Buffer[];
}

/** Lays out what is looked at: databases, and everything for `check`. */
function layOut(files: ReadonlyMap<string, Buffer | null>, { folder, scratch, isChecked }: Look): void {
  rmSync(scratch, { recursive: true, force: true });
  for (const [path, content] of files) {
    const place = join(scratch, path.slice(folder.length));
    if (content === null) mkdirSync(place, { recursive: true });
    else if (isChecked || /\.db(-\w+)?$/.test(path)) writeFileSync(place, content);
  }
}

async function lookAfterCut(
  files: ReadonlyMap<string, Buffer | null>,
  look: Look,
): Promise<{ lost: number; unsound: string[] }> {
  const { folder, scratch, marks, isChecked, soundBackups } = look;
  layOut(files, look);
  const file = join(scratch, 'registry.db');
  try {
    const db = openFile(file);
    try {
      const found = findLosses(db, marks);
      const backup = files.get(join(folder, 'backup', 'registry.db')) ?? Buffer.alloc(0);
      if (marks.words.has('backed-up') && soundBackups[0]?.equals(backup) !== true) {
        const faults = lookAtBackup(join(scratch, 'backup', 'registry.db'));
        found.unsound.push(...faults);
        if (faults.length === 0) soundBackups[0] = Buffer.from(backup);
      }
      if (isChecked && found.unsound.length === 0) {
        const { status, out, err } = await command(['check', '--db', file]);
        if (status !== 0) found.unsound.push(`check: ${out}${err}`);
      }
      return found;
    } finally {
      db.close();
    }
  } catch (error) {
    return { lost: 0, unsound: [String(error)] };
  }
}

/** A backup that was reported as made. */
function lookAtBackup(file: string): string[] {
  const db = openFile(file);
  try {
    const damage = db.value<string>('PRAGMA quick_check(1)');
    return damage === 'ok' && db.count('members') >= IMPORTED ? [] : [`The backup: ${damage}`];
  } finally {
    db.close();
  }
}

if (parentPort !== null) {
  const port = parentPort;
  port.postMessage(await replay(workerData as ReplayTask, (progress) => port.postMessage(progress)));
}
