/** The sequence of changes, against snapshots of all rows before and after each step. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { EVENT_ACTIONS, EVENT_ENTITIES } from '../../../src/domain/events.ts';
import type { LoanValues } from '../../../src/domain/lending/loans.ts';
import type { PaymentValues } from '../../../src/domain/lending/payments.ts';
import type { Member } from '../../../src/domain/membership/members.ts';
import type { ImportKind, ImportSession } from '../../../src/store/ports/import/import-session.ts';
import type { Storage } from '../../../src/store/ports/storage.ts';
import type { SqliteRegistry } from '../../../src/store/sqlite/registry.ts';
import { temporaryFolder } from '../../support/app.ts';
import { changesBetween, lastSequence, readEvents, takeSnapshot } from '../../support/event-feed.ts';
import { type Connection, openFile, openStore, SqliteError } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { type Cells, check, NOW, nid, RECORD, SKIPPING } from '../conformance/import-rows.ts';
import { COOPERATIVE, memberOf } from '../conformance/sample.ts';

const cooperative = fc.constantFrom('A-1', 'B-2');
const number = fc.integer({ min: 1, max: 4 });
const instant = fc.constantFrom(NOW - 86_400, NOW - 172_800);
const MEMBER = { cooperative_code: cooperative, member_code: number.map((n) => `M-${n}`) };
const ROWS: { readonly [kind in ImportKind]?: fc.Arbitrary<Cells> } = {
  cooperatives: fc.record({
    ...{ code: cooperative, name: fc.constantFrom('One', 'Two') },
    ...{ sector: fc.constantFrom('mining', null), status: fc.constantFrom('active', 'inactive', null) },
  }),
  members: fc.record({
    ...{ ...MEMBER, identity_card: number.map(nid), full_name: fc.constantFrom('Keza', 'Mugabo') },
    ...{ mobile: fc.constantFrom('+250781234567', null), gender: fc.constantFrom('FEMALE', null) },
  }),
  production: fc.record({
    ...{ ...MEMBER, reference: number.map((n) => `P-${n}`), delivered_at: instant, kg: number },
    product: fc.constantFrom('milk', null),
  }),
  loans: fc.record({
    ...{ ...MEMBER, reference: number.map((n) => `L-${n}`), amount: number, interest_rate: number },
    status: fc.constantFrom('pending', 'approved'),
    ...{ paid_amount: fc.constantFrom(null, 0, 5), paid_until: fc.constant(NOW - 172_800) },
  }),
  payments: fc.record({
    ...{ cooperative_code: cooperative, loan_reference: fc.integer({ min: 1, max: 9 }).map((n) => `L-${n}`) },
    ...{ reference: number.map((n) => `Q-${n}`), amount: number, method: fc.constantFrom('cash', 'bank') },
    ...{ paid_at: instant, status: fc.constantFrom('recorded', 'void', null) },
  }),
  savings: fc.record({
    ...{ ...MEMBER, account_number: number.map((n) => `S-${n}`), reference: number.map((n) => `R-${n}`) },
    ...{ kind: fc.constantFrom('contribution', 'withdrawal'), amount: number, transacted_at: instant },
  }),
};

type Step =
  | { readonly step: 'import'; readonly kind: ImportKind; readonly rows: readonly Cells[] }
  | { readonly step: 'undo'; readonly at: number }
  | { readonly step: 'writes'; readonly at: number; readonly name: string; readonly isCommitted: boolean };

const kinds = ['cooperatives', 'members', 'members', 'production', 'loans', 'payments', 'savings'] as const;
const anyImport = fc.oneof(
  ...kinds.map((kind) =>
    fc.record({
      ...{ step: fc.constant('import' as const), kind: fc.constant(kind) },
      rows: fc.array(ROWS[kind] as fc.Arbitrary<Cells>, { minLength: 1, maxLength: 6 }),
    }),
  ),
);
const anyUndo = fc.record({ step: fc.constant('undo' as const), at: fc.nat(3) });
const anyWrites = fc.record({
  ...{ step: fc.constant('writes' as const), at: fc.nat(9), name: fc.constantFrom('Keza', 'Mugabo') },
  isCommitted: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
});

class World {
  readonly storage: Storage;
  readonly db: Connection;
  private readonly session: ImportSession;
  private readonly store: SqliteRegistry;
  private readonly imports: number[] = [];
  /** Those that came over HTTP. */
  private readonly loans: number[] = [];
  private hasPayment = false;
  private now = NOW;

  constructor(context: TestContext) {
    const file = join(temporaryFolder(context), 'registry.db');
    this.storage = storageAt(file);
    this.session = this.storage.openImportSession();
    this.store = openStore(file);
    this.db = openFile(file);
  }

  async close(): Promise<void> {
    await this.session.close();
    await this.store.close();
    this.db.close();
  }

  /**
   * Runs a step and compares what it appended with what it changed.
   * @param work gives the actor
   */
  async compare(work: () => Promise<string>): Promise<string[]> {
    const [before, last] = [takeSnapshot(this.db), lastSequence(this.db)];
    const actor = await work();
    const appended = readEvents(this.db, last);
    const expected = changesBetween(before, takeSnapshot(this.db), actor);
    assert.deepEqual([...appended].sort(), expected.sort());
    return appended;
  }

  /** Of rows with faults, the good ones are imported. */
  async import(kind: ImportKind, rows: readonly Cells[]): Promise<string> {
    const checked = await check(this.session, kind, rows, SKIPPING);
    if (checked.isRefused) return 'import:0';
    const { importId } = await checked.apply(++this.now, RECORD);
    this.imports.push(importId);
    return `import:${importId}`;
  }

  /** As `import`, while a key creates a member and gives another one a name. */
  async importBesideWrites(kind: ImportKind, rows: readonly Cells[]): Promise<string> {
    const checked = await check(this.session, kind, rows, SKIPPING);
    assert.ok(!checked.isRefused);
    await this.store.members.create(memberOf(40), ++this.now, 'key:7');
    const rename = (stored: Member) => ({ ...stored, fullName: 'Mugabo' });
    await this.store.members.update(1, rename, ++this.now, 'key:7');
    const { importId } = await checked.apply(++this.now, RECORD);
    return `import:${importId}`;
  }

  async undo(at: number): Promise<string> {
    const id = this.imports.at(-1 - at) ?? 0;
    const log = this.storage.openImportLog();
    const { outcome } = await log.undo(id, ++this.now, 20);
    await log.close();
    if (outcome === 'undone') this.imports.splice(this.imports.indexOf(id), 1);
    return `undo:${id}`;
  }

  get undoable(): number {
    return this.imports.length;
  }

  /** Writes of one event-loop iteration, of which some are refused; their commit may fail. */
  async writes({ at, name, isCommitted }: Extract<Step, { step: 'writes' }>): Promise<string> {
    const now = ++this.now;
    const writes: Promise<unknown>[] = [
      this.store.members.create(memberOf(10 + at), now, 'key:7'),
      this.store.members.update(1, (stored) => ({ ...stored, fullName: name }), now, 'key:7'),
      this.store.members.create({ ...memberOf(30), cooperativeId: 99 }, now, 'key:7'),
      this.store.cooperatives.create({ ...COOPERATIVE, code: `C-${at}` }, now, 'key:7'),
      this.store.cooperatives.update(1, (stored) => ({ ...stored, sector: 'mining' }), now, 'key:7'),
      this.store.members.update(
        2,
        () => {
          throw new Error('decided otherwise');
        },
        now,
        'key:7',
      ),
    ];
    writes.push(...this.loanWrites(at, now));
    const heal = isCommitted ? () => undefined : failCommits(this.store);
    const results = await Promise.allSettled(writes);
    heal();
    if (!isCommitted) assert.ok(results.every(({ status }) => status === 'rejected'));
    return 'key:7';
  }

  /** A loan, and a payment on one that was there before. */
  private loanWrites(at: number, now: number): Promise<unknown>[] {
    const { loans, payments } = this.store;
    const values: LoanValues = {
      ...{ memberId: 3, reference: `H-${at}`, amountMinor: 5_000, interestRateHundredths: 100 },
      ...{ loanStartDate: null, loanEndDate: null, status: 'approved', approvedAt: now },
    };
    const creating = loans.create(values, now, 'key:7');
    const loanId = this.loans.at(-1);
    creating.then(({ id }) => this.loans.push(id)).catch(() => undefined);
    if (loanId === undefined) return [creating];
    const payment: PaymentValues = {
      ...{ loanId, amountMinor: 700, method: 'cash', reference: `H-${now}`, status: 'recorded', paidAt: now },
    };
    const paying = payments.create(payment, () => payment, now, 'key:7');
    const { hasPayment } = this;
    paying.then(() => (this.hasPayment = true)).catch(() => undefined);
    if (!hasPayment) return [creating, paying];
    return [
      creating,
      paying,
      payments.update(1, (stored) => ({ ...stored, method: at % 2 === 0 ? 'bank' : 'cash' }), now, 'key:7'),
    ];
  }

  run(step: Step): Promise<string[]> {
    if (step.step === 'import') return this.compare(() => this.import(step.kind, step.rows));
    if (step.step === 'undo') return this.compare(() => this.undo(step.at));
    return this.compare(() => this.writes(step));
  }
}

/** As on a disk that is full. @returns what ends that */
function failCommits({ connection }: SqliteRegistry): () => void {
  const { run } = connection.transaction as unknown as { run: { commit: () => void } };
  const { commit } = run;
  run.commit = () => {
    throw new SqliteError('database or disk is full', 'SQLITE_FULL');
  };
  return () => {
    run.commit = commit;
  };
}

const START: readonly Step[] = [
  {
    ...{ step: 'import', kind: 'cooperatives' },
    rows: ['A-1', 'B-2'].map((code) => ({ code, name: 'One' })),
  },
  {
    ...{ step: 'import', kind: 'members' },
    rows: [1, 2, 3].map((n) => ({
      ...{ cooperative_code: 'A-1', identity_card: nid(n), member_code: `M-${n}`, full_name: 'Keza' },
    })),
  },
  ...[1, 2].map((amount): Step => {
    const loan = { cooperative_code: 'A-1', member_code: 'M-3', reference: 'L-9', interest_rate: 0 };
    return { step: 'import', kind: 'loans', rows: [{ ...loan, amount, status: 'approved' }] };
  }),
  ...[1, 2].map((amount): Step => {
    const payment = { cooperative_code: 'A-1', loan_reference: 'L-9', reference: 'Q-9', method: 'cash' };
    return { step: 'import', kind: 'payments', rows: [{ ...payment, amount, paid_at: NOW }] };
  }),
];

test('every step appends exactly the changes that it made, in successive numbers', {
  timeout: 120_000,
}, async (context) => {
  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: anyImport },
      { weight: 2, arbitrary: anyUndo },
      { weight: 2, arbitrary: anyWrites },
    ),
    { minLength: 4, maxLength: 14 },
  );
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(steps, async (chosen) => {
      const world = new World(context);
      try {
        for (const step of [...START, ...chosen])
          for (const event of await world.run(step)) seen.add(event.split(' ')[0] as string);
        // What can be undone, last to first.
        for (let at = world.undoable - 1; at >= 0; at--)
          for (const event of await world.run({ step: 'undo', at: world.undoable - 1 - at }))
            seen.add(event.split(' ')[0] as string);
      } finally {
        await world.close();
      }
    }),
    // Without a number of runs always the same ones, which see every type of event.
    process.env.EVENT_RUNS === undefined
      ? { numRuns: 20, seed: 7 }
      : { numRuns: Number(process.env.EVENT_RUNS) },
  );
  const expected = EVENT_ENTITIES.flatMap((entity) => EVENT_ACTIONS.map((action) => `${entity}.${action}`));
  assert.deepEqual([...seen].sort(), expected.sort());
});

test('an import that was checked before others wrote appends what it changed in the end', async (context) => {
  const world = new World(context);
  try {
    for (const step of START) await world.run(step);
    const named = (n: number, full_name: string) => ({
      ...{ cooperative_code: 'A-1', identity_card: nid(n), member_code: `M-${n}`, full_name },
    });
    const before = takeSnapshot(world.db);
    const last = lastSequence(world.db);
    // What the first of them changes is as the file has it by then.
    const rows = [named(1, 'Mugabo'), named(21, 'Mugabo'), named(2, 'Mugabo'), named(22, 'Mugabo')];
    const actor = await world.importBesideWrites('members', rows);
    const appended = readEvents(world.db, last);
    assert.deepEqual(appended.slice(0, 2), [
      'member.created 4 of 1 [] by key:7',
      'member.updated 1 of 1 [full_name] by key:7',
    ]);
    assert.deepEqual(appended.slice(2), [
      `member.created 5 of 1 [] by ${actor}`,
      `member.created 6 of 1 [] by ${actor}`,
      `member.updated 2 of 1 [full_name] by ${actor}`,
    ]);
    assert.equal(takeSnapshot(world.db).size, before.size + 3);
  } finally {
    await world.close();
  }
});

test('an import that rebuilds indexes appends each row once, new ones first, in order of id', {
  timeout: 120_000,
}, async (context) => {
  const many = 10_500;
  const world = new World(context);
  try {
    for (const step of START) await world.run(step);
    const members = Array.from({ length: many }, (_, n) => ({
      ...{ cooperative_code: 'B-2', identity_card: nid(n), member_code: `M-${n}`, full_name: 'Mugabo' },
    }));
    const created = await world.run({ step: 'import', kind: 'members', rows: members });
    assert.deepEqual(
      created,
      members.map((_, n) => `member.created ${4 + n} of 2 [] by import:7`),
    );
    // Each member has several deliveries, the last members first.
    const deliveries = Array.from({ length: many }, (_, n) => ({
      ...{ cooperative_code: 'B-2', member_code: `M-${(many - 1 - n) % 4_000}`, reference: `P-${n}` },
      ...{ delivered_at: NOW - 86_400, kg: 1 },
    }));
    const updated = await world.run({ step: 'import', kind: 'production', rows: deliveries });
    assert.deepEqual(
      updated,
      Array.from({ length: 4_000 }, (_, n) => 4 + n).map(
        (id) => `member.updated ${id} of 2 [production_summary] by import:8`,
      ),
    );
    const again = [
      { ...members[7], full_name: 'Keza' },
      ...members.slice(20, 22),
      { ...members[3], gender: 'MALE' },
    ];
    const extra = { ...members[0], identity_card: nid(many), member_code: 'M-new' };
    assert.deepEqual(
      await world.run({
        ...{ step: 'import', kind: 'members' },
        rows: [...again, extra, { ...members[1], full_name: 'Keza' }],
      }),
      [
        `member.created ${4 + many} of 2 [] by import:9`,
        'member.updated 5 of 2 [full_name] by import:9',
        'member.updated 7 of 2 [gender] by import:9',
        'member.updated 11 of 2 [full_name] by import:9',
      ],
    );
  } finally {
    await world.close();
  }
});
