/** Commands that are killed while they run: each is done completely or not at all. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, type RunningCommand } from '../../support/command.ts';
import { openFile } from '../../support/sqlite.ts';
import { MEMBERS } from '../registry.ts';

const ROWS = 150;
const STEP = 1.15;
const KINDS = ['merge', 'import', 'undo'] as const;
type Kind = (typeof KINDS)[number];

export interface KilledCommands {
  /** Runs the next one, and kills it at a moment when about half of its kind are done. */
  runNext(): Promise<void>;
  /** What was found to be wrong since it was asked last, a line each. */
  takeFaults(): string[];
  /** How many were killed before they had ended, and how many were done. */
  readonly counts: { killed: number; done: number };
}

/** @param start starts the program with arguments */
export function startCommands(
  db: string,
  start: (args: readonly string[]) => RunningCommand,
  random: () => number,
): KilledCommands {
  const faults: string[] = [];
  const counts = { killed: 0, done: 0 };
  /** Milliseconds after which one is killed: adapted until about half of them are done by then. */
  const typicalMs: Record<Kind, number> = { merge: 700, import: 800, undo: 700 };
  /** Member codes of an import begin with its number. */
  let [turn, imports, pairs] = [0, 0, 0];

  async function runAndKill(kind: Kind, args: readonly string[]): Promise<boolean> {
    const running = start(args);
    // A process takes some tenths of a second to start: the kill comes before, in or after its transaction.
    const timer = setTimeout(() => running.child.kill('SIGKILL'), typicalMs[kind] * (0.6 + 0.8 * random()));
    const status = await running.ended;
    clearTimeout(timer);
    // One that could not get the lock for 10 seconds has done nothing.
    const isRefused = status === 1 && running.output().includes('try again');
    if (status !== null && status !== 0 && !isRefused)
      throw new Error(`${args.join(' ')}: ${running.output()}`);
    typicalMs[kind] *= status === null ? STEP : 1 / STEP;
    if (status === null) counts.killed++;
    return status === 0;
  }

  function value<T>(sql: string, ...values: unknown[]): T {
    const registry = openFile(db);
    try {
      return registry.value<T>(sql, values);
    } finally {
      registry.close();
    }
  }

  function compare(what: string, isAcknowledged: boolean, isDone: boolean): void {
    if (isAcknowledged && !isDone) faults.push(`${what} was acknowledged and is lost.`);
    if (isDone) counts.done++;
  }

  async function merge(): Promise<void> {
    // A merge that a kill prevented is tried again by another one of the same pair.
    const from = 2 * (pairs++ % (MEMBERS / 2)) + 1;
    const isMerged = () => value<number>('SELECT count(*) FROM merged_members WHERE id = ?', from) === 1;
    if (isMerged()) return;
    const reason = ['--reason', 'registered twice'];
    const members = [String(from), String(from + 1)];
    const isAcknowledged = await runAndKill('merge', ['members', 'merge', '--yes', ...members, ...reason]);
    const isHere = value<number>('SELECT count(*) FROM members WHERE id = ?', from) === 1;
    if (isHere === isMerged()) faults.push(`Member ${from} is here and merged, or neither.`);
    compare(`The merge of member ${from}`, isAcknowledged, isMerged());
  }

  const rowsOf = (number: number) =>
    value<number>("SELECT count(*) FROM members WHERE member_code LIKE ? || '-%'", `I${number}`);

  /** @returns whether all rows are there */
  function areAll(number: number): boolean {
    const rows = rowsOf(number);
    if (rows !== 0 && rows !== ROWS) faults.push(`Import ${number} is there by half: ${rows} rows.`);
    return rows === ROWS;
  }

  async function importFile(): Promise<void> {
    const number = ++imports;
    const file = join(db, '..', `I${number}.csv`);
    const rows = Array.from(
      { length: ROWS },
      (_, i) => `KILLS,119858${String(9_100_000 + number * ROWS + i)}042,I${number}-${i},Umutoni\n`,
    );
    writeFileSync(file, `cooperative_code,identity_card,member_code,full_name\n${rows.join('')}`);
    const isAcknowledged = await runAndKill('import', ['import', 'members', file]);
    compare(`Import ${number}`, isAcknowledged, areAll(number));
  }

  async function undo(): Promise<void> {
    const { out } = await command(['imports', 'list', '--json', '--db', db]);
    const { imports: made } = JSON.parse(out) as {
      imports: { id: number; file: string; undone_at: unknown }[];
    };
    const last = made.find(({ file, undone_at }) => /I\d+\.csv$/.test(file) && undone_at === null);
    if (last === undefined) return;
    const isAcknowledged = await runAndKill('undo', ['imports', 'undo', String(last.id), '--yes']);
    const number = Number(/I(\d+)\.csv$/.exec(last.file)?.[1]);
    compare(`The undo of import ${number}`, isAcknowledged, !areAll(number));
  }

  const run: Record<Kind, () => Promise<void>> = { merge, import: importFile, undo };
  return {
    counts,
    runNext: () => run[KINDS[turn++ % KINDS.length] as Kind](),
    takeFaults: () => faults.splice(0),
  };
}
