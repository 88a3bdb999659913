/** Corrections of random registries: what a dry run, a correction and its undo do to every row. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { EVENT_ENTITIES, typeOfCode } from '../../../src/domain/events.ts';
import type { PaymentValues } from '../../../src/domain/lending/payments.ts';
import type { ImportKind } from '../../../src/store/ports/import/import-session.ts';
import type { CorrectionResult, CorrectionStore } from '../../../src/store/ports/journal/corrections.ts';
import type { Storage } from '../../../src/store/ports/storage.ts';
import { temporaryFolder } from '../../support/app.ts';
import { type Connection, openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { type Cells, check, NOW, nid, RECORD, SKIPPING } from '../conformance/import-rows.ts';

const TABLES = {
  cooperative: 'cooperatives',
  member: 'members',
  loan: 'loans',
  payment: 'payments',
  delivery: 'production_entries',
  account: 'savings_accounts',
  transaction: 'savings_transactions',
} as const;
type Entity = keyof typeof TABLES;
type Row = { readonly [column: string]: string | number | null };
/** Rows by entity and id, without what a correction computes again. */
type State = ReadonlyMap<string, Row>;

function stateOf(db: Connection): State {
  return new Map(
    Object.entries(TABLES).flatMap(([entity, table]) =>
      (db.raw.prepare(`SELECT * FROM ${table} ORDER BY id`).all() as Row[]).map((row) => {
        const { updated_at: _, production: __, loans: ___, savings: ____, ...values } = row;
        return [`${entity} ${row.id}`, values] as const;
      }),
    ),
  );
}

/** Everything that a dry run could leave behind. */
const everything = (db: Connection): unknown[] =>
  [
    ...Object.values(TABLES),
    'changes',
    'operations',
    'created_rows',
    'events',
    'removed_ids',
    'sqlite_sequence',
  ]
    .concat(['replaced_identity_cards', 'merged_members', 'member_counts', 'loan_counts', 'row_counts'])
    .map((table) => db.raw.prepare(`SELECT * FROM ${table}`).all());

const redirectsOf = (db: Connection): unknown[] => [
  db.raw.prepare('SELECT old, new FROM replaced_identity_cards WHERE ended_by IS NULL ORDER BY old').all(),
  db.raw.prepare('SELECT id, into_id FROM merged_members WHERE ended_by IS NULL ORDER BY id').all(),
];

const rowsOf = (state: State, entity: Entity): Row[] =>
  [...state].filter(([key]) => key.startsWith(`${entity} `)).map(([, row]) => row);

/** What each member has: kilograms, loans and savings. */
function totalsOf(state: State): Map<number, readonly number[]> {
  const totals = new Map<number, number[]>();
  const add = (member: unknown, place: number, amount: unknown) => {
    const of = totals.get(member as number) ?? [0, 0, 0, 0];
    of[place] = (of[place] ?? 0) + (amount as number);
    totals.set(member as number, of);
  };
  const owner = (entity: Entity, id: unknown) => state.get(`${entity} ${id}`)?.member_id;
  for (const row of rowsOf(state, 'delivery')) add(row.member_id, 0, row.grams);
  for (const row of rowsOf(state, 'loan')) add(row.member_id, 1, row.amount_minor);
  for (const row of rowsOf(state, 'payment')) add(owner('loan', row.loan_id), 2, row.amount_minor);
  for (const row of rowsOf(state, 'transaction')) add(owner('account', row.account_id), 3, row.amount_minor);
  return totals;
}

/** The same by a key of the member, for those with anything. */
function totalsBy(state: State, keyOf: (member: Row) => string): { [key: string]: readonly number[] } {
  const sums: { [key: string]: number[] } = {};
  for (const [id, of] of totalsOf(state)) {
    const key = keyOf(state.get(`member ${id}`) as Row);
    const sum = sums[key] ?? [0, 0, 0, 0];
    sums[key] = sum.map((each, i) => each + (of[i] ?? 0));
  }
  return sums;
}

/** Which events a difference of two states must have, as `member.updated 3`. */
function eventsBetween(before: State, after: State): string[] {
  const events = new Set<string>();
  const differs = (key: string) => JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key));
  const touch = (member: unknown) => {
    if (before.has(`member ${member}`) && after.has(`member ${member}`))
      events.add(`member.updated ${member}`);
  };
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    if (!differs(key)) continue;
    const [entity = '', id = ''] = key.split(' ');
    if ((EVENT_ENTITIES as readonly string[]).includes(entity)) {
      const action = !after.has(key) ? 'deleted' : before.has(key) ? 'updated' : 'created';
      events.add(`${entity}.${action} ${id}`);
      continue;
    }
    for (const state of [before, after]) {
      const row = state.get(key);
      const account = state.get(`account ${row?.account_id}`);
      touch(entity === 'transaction' ? account?.member_id : row?.member_id);
    }
  }
  return [...events].sort();
}

const cooperative = fc.constantFrom('A-1', 'B-2', 'C-3');
const few = fc.integer({ min: 1, max: 4 });
const many = fc.integer({ min: 1, max: 40 });
const instant = fc.constantFrom(NOW - 86_400, NOW - 172_800);
const maybe = <T>(value: T) => fc.constantFrom(value, null);
const entry = { cooperative_code: cooperative, member_code: few.map((n) => `M-${n}`) };
const ROWS: { readonly [kind in Exclude<ImportKind, 'cooperatives' | 'payments'>]: fc.Arbitrary<Cells> } = {
  members: fc.record({
    ...{ ...entry, identity_card: fc.integer({ min: 1, max: 5 }).map(nid) },
    ...{ full_name: fc.constantFrom('Keza Aline', 'Mugabo Jean'), gender: maybe('FEMALE') },
    ...{ mobile: maybe('+250781234567'), date_of_birth: maybe('1985-01-02') },
    status: fc.constantFrom('active', 'suspended', 'withdrawn'),
  }),
  production: fc.record({
    ...{ ...entry, reference: many.map((n) => `P-${n}`), delivered_at: instant, kg: few },
    product: maybe('milk'),
  }),
  loans: fc.record({
    ...{ ...entry, reference: many.map((n) => `L-${n}`), amount: few, interest_rate: few },
    status: fc.constantFrom('pending', 'approved'),
  }),
  savings: fc.record({
    ...{ ...entry, account_number: many.map((n) => `S-${n}`), reference: many.map((n) => `R-${n}`) },
    ...{ kind: fc.constantFrom('contribution', 'withdrawal'), amount: few, transacted_at: instant },
  }),
};
const fileOf = (kind: keyof typeof ROWS, maxLength: number) =>
  fc.record({ kind: fc.constant(kind), rows: fc.array(ROWS[kind], { minLength: 1, maxLength }) });

type Step =
  | { readonly kind: 'replace'; readonly from: number; readonly to: number; readonly releases: boolean }
  | { readonly kind: 'merge' | 'move' | 'release'; readonly from: number; readonly to: number }
  | { readonly kind: 'cooperatives'; readonly from: string; readonly to: string }
  | { readonly kind: 'file'; readonly file: { kind: ImportKind; rows: Cells[] } }
  | { readonly kind: 'pay'; readonly from: number; readonly to: number }
  | { readonly kind: 'undo'; readonly at: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    ...{ kind: fc.constant('replace' as const), from: fc.integer({ min: 1, max: 5 }) },
    ...{ to: fc.integer({ min: 1, max: 7 }), releases: fc.boolean() },
  }),
  fc.record({
    kind: fc.constantFrom('merge' as const, 'merge' as const, 'move' as const, 'release' as const),
    ...{ from: fc.nat({ max: 20 }), to: fc.nat({ max: 20 }) },
  }),
  fc.record({ kind: fc.constant('cooperatives' as const), from: cooperative, to: cooperative }),
  fc.record({
    kind: fc.constant('file' as const),
    file: fc.oneof(
      ...(['members', 'production', 'loans', 'savings'] as const).map((kind) => fileOf(kind, 3)),
    ),
  }) as fc.Arbitrary<Step>,
  fc.record({ kind: fc.constant('pay' as const), from: fc.nat({ max: 20 }), to: many }),
  fc.record({ kind: fc.constant('undo' as const), at: fc.nat({ max: 20 }) }),
);

interface Done {
  readonly id: number;
  /** Undefined after an earlier one was undone: nothing has the state before this one any more. */
  before: State | undefined;
  readonly redirects: unknown[];
}

class World {
  readonly storage: Storage;
  readonly db: Connection;
  readonly corrections: CorrectionStore;
  /** Corrections that stand, and null for what cannot be undone. */
  readonly done: (Done | null)[] = [];
  private now = NOW;

  constructor(context: TestContext) {
    const file = join(temporaryFolder(context), 'registry.db');
    this.storage = storageAt(file);
    void this.storage.openImportSession().close();
    this.db = openFile(file);
    this.corrections = this.storage.openCorrections();
  }

  async close(): Promise<void> {
    this.db.close();
    await this.corrections.close();
  }

  async import(kind: ImportKind, rows: readonly Cells[]): Promise<void> {
    const session = this.storage.openImportSession();
    const checked = await check(session, kind, rows, SKIPPING);
    if (!checked.isRefused) await checked.apply(++this.now, RECORD);
    await session.close();
    this.done.push(null);
  }

  async pay(at: number, reference: number): Promise<void> {
    const loans = rowsOf(stateOf(this.db), 'loan');
    const loan = loans[at % Math.max(loans.length, 1)];
    if (loan === undefined) return;
    const registry = this.storage.openRegistry();
    const values: PaymentValues = {
      ...{ loanId: loan.id as number, amountMinor: 5, reference: `Y-${reference}`, paidAt: NOW },
      ...({ method: 'cash', status: 'recorded' } as const),
    };
    await registry.payments.create(values, () => values, ++this.now, 'key:1').catch(() => {});
    await registry.close();
    this.done.push(null);
  }

  /** Runs a correction twice, the first time dry, and compares every row with what is expected. */
  async correct(run: (isDryRun: boolean) => Promise<CorrectionResult>): Promise<CorrectionResult> {
    const before = stateOf(this.db);
    const redirects = redirectsOf(this.db);
    const untouched = everything(this.db);
    const dry = await run(true);
    assert.deepEqual(everything(this.db), untouched);
    const sequence = this.lastSequence();
    const result = await run(false);
    if (result.outcome === 'refused') {
      assert.deepEqual(dry, result);
      assert.deepEqual(everything(this.db), untouched);
      return result;
    }
    assert.deepEqual({ ...dry, correctionId: result.correctionId, lockMs: 0 }, { ...result, lockMs: 0 });
    assert.deepEqual(this.eventsAfter(sequence), eventsBetween(before, stateOf(this.db)));
    await this.assertSound();
    this.done.push({ id: result.correctionId as number, before, redirects });
    return result;
  }

  options(isDryRun: boolean) {
    return { reason: 'test', systemUser: 'operator', nowSeconds: this.now + 1, isDryRun };
  }

  /** Undoes a correction; the last change must be undoable, and puts every row back. */
  async undo(at: number): Promise<void> {
    const place = this.done.findIndex((each, i) => each !== null && i >= at % this.done.length);
    const chosen = this.done[place];
    if (chosen === undefined || chosen === null) return;
    const isLast = place === this.done.length - 1 && chosen.before !== undefined;
    const before = stateOf(this.db);
    const sequence = this.lastSequence();
    const log = this.storage.openImportLog();
    const result = await log.undo(chosen.id, ++this.now, 20);
    await log.close();
    if (isLast) assert.equal(result.outcome, 'undone', JSON.stringify(result));
    if (isLast) assert.deepEqual(stateOf(this.db), chosen.before);
    if (isLast) assert.deepEqual(redirectsOf(this.db), chosen.redirects);
    await this.assertSound();
    if (result.outcome !== 'undone') return assert.deepEqual(stateOf(this.db), before);
    assert.deepEqual(this.eventsAfter(sequence), eventsBetween(before, stateOf(this.db)));
    this.done.splice(place, 1);
    for (const later of this.done.slice(place)) if (later !== null) later.before = undefined;
  }

  private lastSequence(): number {
    return this.db.raw.prepare('SELECT coalesce(max(sequence), 0) FROM events').pluck().get() as number;
  }

  private eventsAfter(sequence: number): string[] {
    const rows = this.db.raw
      .prepare('SELECT type, row_id AS id FROM events WHERE sequence > ?')
      .all(sequence) as { type: number; id: number }[];
    return rows.map(({ type, id }) => `${typeOfCode(type)} ${id}`).sort();
  }

  async assertSound(): Promise<void> {
    const faults = (await this.storage.check()).filter(({ fault }) => fault !== null);
    assert.deepEqual(faults, []);
  }
}

const code = (number: number): string => ['A-1', 'B-2', 'C-3'][number % 3] as string;

async function take(world: World, chosen: Step): Promise<void> {
  const { corrections } = world;
  const before = stateOf(world.db);
  const members = rowsOf(before, 'member').map(({ id }) => id as number);
  const memberAt = (at: number): number => members[at % Math.max(members.length, 1)] ?? 1;
  if (chosen.kind === 'file') return world.import(chosen.file.kind, chosen.file.rows);
  if (chosen.kind === 'pay') return world.pay(chosen.from, chosen.to);
  if (chosen.kind === 'undo') return world.undo(chosen.at);
  const [from, into] = chosen.kind === 'merge' ? [memberAt(chosen.from), memberAt(chosen.to)] : [0, 0];
  const result = await world.correct(async (isDryRun) => {
    const options = world.options(isDryRun);
    if (chosen.kind === 'replace')
      return corrections.replaceIdentityCard(nid(chosen.from), nid(chosen.to), {
        ...options,
        releases: chosen.releases,
      });
    if (chosen.kind === 'release') return corrections.releaseIdentityCard(nid(chosen.from % 7), options);
    if (chosen.kind === 'merge') return corrections.mergeMembers(from, into, options);
    if (chosen.kind === 'move')
      return corrections.moveMember(memberAt(chosen.from), code(Number(chosen.to)), options);
    return corrections.mergeCooperatives(chosen.from as string, chosen.to as string, options);
  });
  if (result.outcome === 'refused') return;
  const after = stateOf(world.db);
  // What a person has is the same before and after, under the number or the member that it has now.
  const renamed = (card: unknown): string =>
    chosen.kind === 'replace' && card === nid(chosen.from) ? nid(chosen.to) : String(card);
  const replaced = (id: unknown): string => String(id === from ? into : id);
  if (chosen.kind === 'merge')
    assert.deepEqual(
      totalsBy(after, ({ id }) => String(id)),
      totalsBy(before, ({ id }) => replaced(id)),
    );
  else
    assert.deepEqual(
      totalsBy(after, ({ identity_card }) => String(identity_card)),
      totalsBy(before, ({ identity_card }) => renamed(identity_card)),
    );
}

test('a correction and its undo keep every row, total, count and event right; a dry run leaves nothing', {
  timeout: 300_000,
}, async (context) => {
  const start = fc.tuple(
    fileOf('members', 12),
    fileOf('production', 12),
    fileOf('loans', 8),
    fileOf('savings', 10),
  );
  const seen: { [outcome: string]: number } = {};
  await fc.assert(
    fc.asyncProperty(start, fc.array(step, { minLength: 2, maxLength: 10 }), async (files, steps) => {
      const world = new World(context);
      try {
        await world.import(
          'cooperatives',
          ['A-1', 'B-2', 'C-3'].map((each) => ({ code: each, name: each })),
        );
        for (const { kind, rows } of files) await world.import(kind, rows);
        for (const each of steps) {
          const count = world.done.length;
          await take(world, each);
          const outcome = `${each.kind} ${world.done.length === count ? 'refused' : 'done'}`;
          seen[outcome] = (seen[outcome] ?? 0) + 1;
        }
        for (let at = world.done.length - 1; at >= 0; at--) if (world.done[at] !== null) await world.undo(at);
      } finally {
        await world.close();
      }
    }),
    // Without a number of runs always the same ones, which see every kind of correction done.
    process.env.CORRECTION_RUNS === undefined
      ? { numRuns: 25, seed: 7 }
      : { numRuns: Number(process.env.CORRECTION_RUNS) },
  );
  if (process.env.CORRECTION_RUNS !== undefined) console.log(seen);
  for (const kind of ['replace', 'merge', 'move', 'cooperatives']) assert.ok(seen[`${kind} done`], kind);
});
