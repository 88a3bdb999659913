/** Runs a random history on a registry of its own, and checks each step by what it did to the rows. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { checkStorage } from '../../../src/check/check.ts';
import { openExportSession } from '../../../src/export/exported-rows.ts';
import type { AcceptedFile } from '../../../src/import/staging/apply-checked-file.ts';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import { openJournal } from '../../../src/journal/undo.ts';
import { openRegistry, type RegistryStore } from '../../../src/open-registry.ts';
import type { CorrectionResult } from '../../../src/people/correction-result.ts';
import { openCorrections } from '../../../src/people/corrections/correction-store.ts';
import type { Storage } from '../../../src/sqlite/storage.ts';
import { openStatisticsOf, type StatisticsStore } from '../../../src/statistics/statistics-store.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { temporaryFolder } from '../../support/app.ts';
import { type Connection, failCommits, openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { check, NOW, nextIteration, RECORD, SKIPPING } from '../conformance/import-rows.ts';
import { correct } from './corrections.ts';
import { isMember, PersonTexts } from './erasure-checks.ts';
import { ExportedCopy } from './export-checks.ts';
import { checkEvents, eventsBetween } from './feed-checks.ts';
import { checkListed } from './list-checks.ts';
import { checkLookups } from './lookup-checks.ts';
import { isErased, type Rows, readEverything, readRows, rowsOf } from './rows.ts';
import { checkStatistics } from './statistics-checks.ts';
import { type Correction, type Import, type Newer, NUMBERS, type Operation, type Writes } from './steps.ts';
import { isBuiltOn, type Step, undoIn } from './undo-checks.ts';
import { write } from './writes.ts';

const WHY = { reason: 'Test', systemUser: 'operator' };

interface Taken extends Step {
  readonly redirects: unknown;
  /** Nothing that it met was undone since: if it is the last that stands, it can be undone. */
  isRestorable: boolean;
}

export class History {
  /** How often what was done or refused. */
  readonly seen = new Map<string, number>();
  /** What was tried, and what came of it. */
  readonly told: string[] = [];
  /** The types of all events. */
  readonly announced = new Set<string>();
  private readonly steps: Taken[] = [];
  private readonly files: (Import & { readonly importId: number })[] = [];
  private readonly folder: string;
  private readonly storage: Storage;
  private readonly registry: RegistryStore;
  /** Open all the time: what it keeps must follow every change. */
  private readonly statistics: StatisticsStore;
  private readonly db: Connection;
  private readonly texts: PersonTexts;
  private readonly copy: ExportedCopy;
  private readonly isRefusalExact: boolean;
  private now = NOW;
  private sequence = 0;

  /**
   * @param isRefusalExact whether an undo is refused exactly where something builds on the import; then keys
   *   write one after the other, as a payment that is made void at once would not be seen
   */
  constructor(context: TestContext, isRefusalExact: boolean) {
    this.folder = temporaryFolder(context);
    const file = join(this.folder, 'registry.db');
    this.storage = storageAt(file);
    this.registry = openRegistry(this.storage);
    this.statistics = openStatisticsOf(this.storage);
    this.db = openFile(file);
    // So that some rows are added up, and some are not.
    this.db.exec('UPDATE batches SET size = 4');
    this.texts = new PersonTexts(this.folder, this.registry.members);
    this.copy = new ExportedCopy(openExportSession(this.storage), this.registry);
    this.isRefusalExact = isRefusalExact;
  }

  async close(): Promise<void> {
    this.copy.close();
    this.db.close();
    this.statistics.close();
    await this.registry.close();
  }

  async take(operation: Operation): Promise<void> {
    const { kind } = operation;
    this.told.push(JSON.stringify(operation));
    if (kind === 'import') return this.import(operation);
    if (kind === 'writes') return this.write(operation);
    if (kind === 'undo') {
      const standing = this.steps.filter(({ undoId, isUndone }) => undoId !== undefined && !isUndone);
      const step = standing[operation.at % Math.max(standing.length, 1)];
      return step === undefined ? undefined : void (await this.undo(step));
    }
    if (kind === 'again') {
      const file = this.files[operation.at % Math.max(this.files.length, 1)];
      return file === undefined ? undefined : this.import(file);
    }
    if (kind === 'newer') return this.replace(operation);
    return this.correct(operation);
  }

  private replace({ at, dropped, changed, value }: Newer): Promise<void> | undefined {
    const file = this.files[at % Math.max(this.files.length, 1)];
    if (file === undefined) return undefined;
    const rows = file.rows.flatMap((row, i) => {
      if (dropped.includes(i)) return [];
      const name = 'kg' in row ? 'kg' : 'amount';
      return [i === changed && name in row ? { ...row, [name]: value } : row];
    });
    return rows.length === 0 ? undefined : this.import({ ...file, rows, beside: undefined }, file.importId);
  }

  /** Undoes what can be undone, last to first, and compares all rows. @returns what is left */
  async finish(): Promise<Rows> {
    await checkListed(this.registry, this.rows());
    for (const step of [...this.steps].reverse())
      if (step.undoId !== undefined && !step.isUndone) await this.undo(step);
    const rows = this.rows();
    await checkListed(this.registry, rows);
    this.texts.checkForgotten(rows);
    return rows;
  }

  private rows(): Rows {
    return readRows(this.db);
  }

  /** Which former numbers and merged members lead where, as the service says. */
  private async redirects(): Promise<unknown> {
    const { members } = this.registry;
    const numbers = await Promise.all(NUMBERS.map((number) => members.findCurrentIdentityCard(number)));
    return { numbers, merged: await this.texts.merged() };
  }

  /** Of rows with faults, the good ones are imported. A single row was typed. */
  private async import(file: Import, replaces?: number): Promise<void> {
    const session = openImportSession(this.storage);
    const options = { ...SKIPPING, overwritesCorrections: file.overwrites, replaces };
    const isEntered = file.rows.length === 1 && replaces === undefined;
    const what = replaces !== undefined ? `newer ${file.of}` : isEntered ? `entered ${file.of}` : file.of;
    const checked = await check(session, file.of, file.rows, options);
    if (checked.isRefused) {
      await session.close();
      return this.count(what, 'refused');
    }
    if (file.beside !== undefined) await this.write(file.beside);
    await this.record(what, async () => {
      const applied = await this.apply(checked, file, isEntered);
      await session.close();
      if (applied === undefined) return undefined;
      if (isEntered) return { actor: `correction:${applied}`, undoId: applied };
      this.files.push({ ...file, importId: applied });
      return { actor: `import:${applied}`, undoId: applied };
    });
  }

  /** @returns the id of the import; undefined when what was written since its check is in its way */
  private async apply(
    checked: AcceptedFile,
    { beside }: Import,
    isEntered: boolean,
  ): Promise<number | undefined> {
    const record = isEntered ? { ...RECORD, isEntered: true as const } : RECORD;
    try {
      return (await checked.apply(++this.now, record)).importId;
    } catch (error) {
      if (beside === undefined || !(error instanceof RegistryError) || error.code !== 'unavailable')
        throw error;
      return undefined;
    }
  }

  private write(step: Writes): Promise<void> {
    return this.record('writes', async () => {
      const heal = step.isCommitted ? () => undefined : failCommits(this.registry);
      try {
        const now = ++this.now;
        const between: Rows[] = [];
        const results: PromiseSettledResult<unknown>[] = [];
        const inTurn = this.isRefusalExact ? step.writes.map((each) => [each]) : [step.writes];
        for (const writes of inTurn) {
          const written = writes.map((each) => write(this.registry, this.rows(), each, now));
          results.push(...(await Promise.allSettled(written)));
          between.push(this.rows());
        }
        const done = results.filter((result) => result.status === 'fulfilled');
        for (const { value } of done) if (isMember(value)) this.texts.noteWritten(value);
        for (const [i, { what }] of step.writes.entries())
          if (results[i]?.status === 'fulfilled') this.count(what, 'done');
        assert.ok(step.isCommitted || done.length === 0);
        return done.length === 0 ? undefined : { actor: 'key:7', undoId: undefined, between };
      } finally {
        heal();
      }
    });
  }

  /** Corrects twice, the first time dry. */
  private correct(correction: Correction): Promise<void> {
    return this.record(correction.kind, async (before) => {
      const corrections = openCorrections(this.storage);
      const formers = await this.texts.formers(NUMBERS);
      await nextIteration();
      const run = (isDryRun: boolean) =>
        correct(corrections, before, formers, correction, {
          ...{ ...WHY, nowSeconds: this.now + 1, isDryRun },
        });
      try {
        const untouched = readEverything(this.db);
        const dry = await run(true);
        assert.deepEqual(readEverything(this.db), untouched, 'A dry run left something.');
        const done = await run(false);
        this.now++;
        compareWithDry(correction, dry.result, done.result);
        if (done.result.outcome === 'refused') {
          assert.deepEqual(readEverything(this.db), untouched, 'A refused correction left something.');
          return undefined;
        }
        done.check(before, this.rows());
        if (correction.kind === 'erase') {
          const numbers = await this.texts.checkErased(before, this.rows());
          for (const number of numbers)
            assert.deepEqual(
              await corrections.run('erasePerson', { nid: number }, { ...WHY, nowSeconds: this.now }),
              {
                ...{ outcome: 'refused', message: 'This person was erased.', collisions: [] },
              },
            );
        }
        const id = done.result.correctionId as number;
        return { actor: `correction:${id}`, undoId: correction.kind === 'erase' ? undefined : id };
      } finally {
        await corrections.close();
      }
    });
  }

  /** @returns whether it was undone */
  private async undo(step: Taken): Promise<void> {
    const id = step.undoId as number;
    const later = this.steps.slice(this.steps.indexOf(step) + 1);
    const isLast = step.isRestorable && later.every(({ isUndone }) => isUndone);
    await this.record('undo', async (before) => {
      const log = openJournal(this.storage);
      const result = await log.undo(id, 20, { systemUser: 'tester', nowSeconds: ++this.now });
      await log.close();
      const isDone = result.outcome === 'undone';
      // The entries of an erased person stay as they are, also those that came later.
      const isOfErased =
        result.outcome === 'refused' && result.blockers.every(({ reason }) => reason === 'erased');
      if (isLast) assert.ok(isDone || isOfErased, JSON.stringify(result));
      if (this.isRefusalExact)
        assert.equal(!isDone, isBuiltOn(this.steps, step, before), JSON.stringify(result));
      assert.deepEqual(this.rows(), isDone ? undoIn(before, step) : before);
      if (!isDone) return undefined;
      await nextIteration();
      if (isLast) assert.deepEqual(await this.redirects(), step.redirects);
      step.isUndone = true;
      for (const each of later) each.isRestorable = false;
      return { actor: `undo:${id}`, undoId: undefined, isUndo: true };
    });
  }

  private count(what: string, outcome: string): void {
    const key = `${what} ${outcome}`;
    this.seen.set(key, (this.seen.get(key) ?? 0) + 1);
  }

  /**
   * Runs an operation, and compares what followers, lookups and the command `check` say with the rows.
   * @param work gives undefined when it was refused
   */
  private async record(
    what: string,
    work: (
      before: Rows,
    ) => Promise<
      { actor: string; undoId: number | undefined; between?: readonly Rows[]; isUndo?: boolean } | undefined
    >,
  ): Promise<void> {
    await nextIteration();
    const before = this.rows();
    const redirects = await this.redirects();
    // The service reads one snapshot in an iteration, and an erasure waits for readers.
    await nextIteration();
    const done = await work(before);
    const after = this.rows();
    this.count(what, done === undefined ? 'refused' : 'done');
    this.told.push(`  ${what}: ${done?.actor ?? 'refused'}`);
    await nextIteration();
    await this.checkFeed(eventsBetween(before, after, done?.actor ?? ''));
    await checkStatistics(this.statistics, after, this.now, this.sequence);
    await this.copy.check();
    const faults = (await checkStorage(this.storage)).filter(({ fault }) => fault !== null);
    assert.deepEqual(faults, []);
    if (done === undefined) return assert.deepEqual(after, before);
    for (const { id } of rowsOf(before, 'member').filter(isErased))
      assert.ok(isErased(after.get(`member ${id}`)), 'An erased person is back.');
    this.texts.note(after);
    await this.texts.checkFormers(after, NUMBERS);
    for (const at of [this.now, this.now - 90_000, this.now + 15])
      await checkLookups(this.registry, after, NUMBERS, at);
    if (done.isUndo === true) return;
    this.steps.push({ ...done, before, after, redirects, isUndone: false, isRestorable: true });
  }

  private async checkFeed(expected: readonly string[]): Promise<void> {
    const { events } = await this.registry.events.read({
      ...{ after: this.sequence, limit: 1_000, epoch: undefined },
    });
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, i) => this.sequence + 1 + i),
    );
    checkEvents(events, expected);
    this.sequence += events.length;
    for (const { type } of events) this.announced.add(type);
  }
}

function compareWithDry({ kind }: Correction, dry: CorrectionResult, done: CorrectionResult): void {
  if (dry.outcome === 'refused' || done.outcome === 'refused') {
    assert.deepEqual(dry, done);
    return;
  }
  assert.deepEqual(dry.rows, done.rows);
  // An erasure does not keep who it was about, and says what was left in the file.
  if (kind === 'erase') return;
  // Only a dry run says what is to be agreed to.
  const { correctionId } = done;
  assert.deepEqual({ ...dry, fingerprint: undefined, correctionId, lockMs: 0 }, { ...done, lockMs: 0 });
}
