/** Undoing imports in any order, against a model of what the tables held before and after each. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { LoanRecord } from '../../../src/domain/lending/loans.ts';
import {
  decideNewPayment,
  decidePayment,
  type PaymentRecord,
  type PaymentValues,
} from '../../../src/domain/lending/payments.ts';
import type { Member } from '../../../src/domain/membership/members.ts';
import { KIGALI } from '../../../src/domain/values/date-time.ts';
import { RegistryError } from '../../../src/domain/values/errors.ts';
import type { ImportKind, ImportSession } from '../../../src/store/ports/import/import-session.ts';
import type { RegistryStore } from '../../../src/store/ports/registry.ts';
import type { Storage } from '../../../src/store/ports/storage.ts';
import { temporaryFolder } from '../../support/app.ts';
import { type Connection, openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { type Cells, check, NOW, nid, RECORD, SKIPPING } from '../conformance/import-rows.ts';

interface Row {
  readonly values: string;
  /** Keys of the rows that it refers to. */
  readonly parents: readonly string[];
  /** What no other row may have. */
  readonly unique: readonly string[];
}
type State = ReadonlyMap<string, Row>;

/** One import or write, by what it did to the tables. */
interface Step {
  readonly importId: number | undefined;
  readonly before: State;
  readonly after: State;
  isUndone: boolean;
}

/** Every row by its id, without the time of its last change. */
function stateOf(db: Connection): State {
  const rows = db.raw.prepare(DUMP).all() as { [column in 'key' | 'all' | 'parents' | 'unique']: string }[];
  return new Map(
    rows.map(({ key, all, parents, unique }) => [
      key,
      { values: all, parents: JSON.parse(parents), unique: JSON.parse(unique) },
    ]),
  );
}

const DUMP = `
SELECT 'cooperative ' || id AS key, json_array(code, name, sector, province, district, registration_date,
    status, created_at) AS "all", '[]' AS parents, '[]' AS "unique" FROM cooperatives
UNION ALL SELECT 'member ' || id,
    json_array(cooperative_id, identity_card, member_code, full_name, first_name, gender, mobile, role,
      status, registration_date, created_at), json_array('cooperative ' || cooperative_id),
    json_array(cooperative_id || ' code ' || member_code, cooperative_id || ' card ' || identity_card)
  FROM members
UNION ALL SELECT 'delivery ' || id, json_array(member_id, reference, delivered_at, grams, product),
    json_array('cooperative ' || cooperative_id, 'member ' || member_id), '[]' FROM production_entries
UNION ALL SELECT 'loan ' || id,
    json_array(member_id, reference, amount_minor, interest_rate_hundredths, status, opening_balance_minor,
      paid_until, loan_start_date, created_at),
    json_array('cooperative ' || cooperative_id, 'member ' || member_id), '[]' FROM loans
UNION ALL SELECT 'payment ' || id,
    json_array(loan_id, status, amount_minor, reference, method, paid_at, created_at),
    json_array('cooperative ' || cooperative_id, 'loan ' || loan_id), '[]' FROM payments
UNION ALL SELECT 'account ' || id, json_array(member_id, account_number),
    json_array('cooperative ' || cooperative_id, 'member ' || member_id), '[]' FROM savings_accounts
UNION ALL SELECT 'transaction ' || id, json_array(account_id, reference, kind, amount_minor, transacted_at),
    json_array('cooperative ' || cooperative_id, 'account ' || account_id), '[]' FROM savings_transactions`;

const createdBy = ({ before, after }: Step) => [...after.keys()].filter((key) => !before.has(key));
const changedBy = ({ before, after }: Step) =>
  [...after.keys()].filter((key) => before.has(key) && before.get(key)?.values !== after.get(key)?.values);
/** Rows that the ones it wrote refer to, before and after. */
const parentsOf = (step: Step) =>
  [...createdBy(step), ...changedBy(step)].flatMap((key) => [
    ...(step.before.get(key)?.parents ?? []),
    ...(step.after.get(key)?.parents ?? []),
  ]);

function undoInModel(state: State, step: Step): State {
  const next = new Map(state);
  for (const key of createdBy(step)) next.delete(key);
  for (const key of changedBy(step)) next.set(key, step.before.get(key) as Row);
  return next;
}

/** By loan, what its payments add up to; the opening balance is a value of the loan. */
function recordedOf(state: State): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [key, { values }] of state) {
    if (!key.startsWith('payment ')) continue;
    const [loanId, status, amountMinor] = JSON.parse(values) as [number, string, number];
    if (status === 'recorded') sums.set(`loan ${loanId}`, (sums.get(`loan ${loanId}`) ?? 0) + amountMinor);
  }
  return sums;
}
const PAID_UNTIL = 6;
/** The loans of which a step changes what is paid by payments. */
function paidBy({ before, after }: Step): string[] {
  const [was, is] = [recordedOf(before), recordedOf(after)];
  return [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
}
/** The stored loans of which a step moves the end of the opening balance. */
const movedBy = (step: Step) =>
  changedBy(step).filter((key) => {
    const endIn = (state: State) => JSON.parse(state.get(key)?.values ?? '[]')[PAID_UNTIL];
    return key.startsWith('loan ') && endIn(step.before) !== endIn(step.after);
  });
/** The loans with a payment that a step makes void. */
const voidedBy = (step: Step) =>
  changedBy(step).flatMap((key) => {
    if (!key.startsWith('payment ')) return [];
    const [was, is] = [step.before, step.after].map((state) => JSON.parse(state.get(key)?.values ?? '[]'));
    return was[1] === is[1] ? [] : [`loan ${is[0]}`];
  });

/** Whether something that is not undone builds on a step. */
function isBuiltOn(steps: readonly Step[], step: Step, state: State): boolean {
  const created = new Set(createdBy(step));
  const written = new Set([...created, ...changedBy(step)]);
  const later = steps.slice(steps.indexOf(step) + 1).filter(({ isUndone }) => !isUndone);
  const voided = new Set(voidedBy(step));
  const unique = [...undoInModel(state, step).values()].flatMap((row) => row.unique);
  return (
    later.some((other) => changedBy(other).some((key) => written.has(key))) ||
    later.some((other) => parentsOf(other).some((key) => created.has(key))) ||
    later.some((other) => paidBy(other).some((key) => written.has(key))) ||
    later.some((other) => movedBy(other).some((key) => voided.has(key))) ||
    new Set(unique).size < unique.length
  );
}

const cooperative = fc.constantFrom('A-1', 'B-2');
const number = fc.integer({ min: 1, max: 4 });
const instant = fc.constantFrom(NOW - 86_400, NOW - 172_800);
const ROWS: { readonly [kind in ImportKind]: fc.Arbitrary<Cells> } = {
  cooperatives: fc.record({
    code: cooperative,
    name: fc.constantFrom('One', 'Two'),
    status: fc.constantFrom('active', 'inactive', null),
  }),
  members: fc.record({
    cooperative_code: cooperative,
    identity_card: number.map(nid),
    member_code: number.map((n) => `M-${n}`),
    full_name: fc.constantFrom('Keza', 'Mugabo'),
    mobile: fc.constantFrom('+250781234567', null),
    status: fc.constantFrom('active', 'suspended', null),
  }),
  production: fc.record({
    ...{ cooperative_code: cooperative, member_code: number.map((n) => `M-${n}`) },
    ...{ reference: number.map((n) => `P-${n}`), delivered_at: instant, kg: number },
    product: fc.constantFrom('milk', null),
  }),
  loans: fc.record({
    ...{ cooperative_code: cooperative, member_code: number.map((n) => `M-${n}`) },
    ...{ reference: number.map((n) => `L-${n}`), amount: number, interest_rate: number },
    status: fc.constantFrom('pending', 'approved', 'approved', 'paid'),
    paid_amount: fc.constantFrom(null, null, 0, 3, 5),
    paid_until: fc.constantFrom(NOW - 86_400, NOW - 172_800, NOW - 200_000),
  }),
  payments: fc.record({
    ...{ cooperative_code: cooperative, loan_reference: number.map((n) => `L-${n}`) },
    ...{ reference: number.map((n) => `Q-${n}`), amount: number, method: fc.constantFrom('cash', 'bank') },
    ...{ paid_at: instant, status: fc.constantFrom('recorded', 'void', null) },
  }),
  savings: fc.record({
    ...{ cooperative_code: cooperative, member_code: number.map((n) => `M-${n}`) },
    ...{ account_number: number.map((n) => `S-${n}`), reference: number.map((n) => `R-${n}`) },
    ...{ kind: fc.constantFrom('contribution', 'withdrawal'), amount: number, transacted_at: instant },
  }),
};

type Action =
  | { readonly kind: ImportKind; readonly rows: readonly Cells[] }
  | { readonly kind: 'undo'; readonly at: number }
  | { readonly kind: 'write'; readonly at: number };
const importOf = (kind: ImportKind): fc.Arbitrary<Action> =>
  fc.record({ kind: fc.constant(kind), rows: fc.array(ROWS[kind], { minLength: 1, maxLength: 6 }) });
const anyImport = fc.oneof(
  ...[
    ...(['cooperatives', 'members', 'members', 'production', 'savings', 'savings'] as const),
    ...(['loans', 'loans', 'payments', 'payments', 'payments'] as const),
  ].map(importOf),
);
const undo = fc.record({ kind: fc.constant('undo' as const), at: fc.nat() });
const write = fc.record({ kind: fc.constant('write' as const), at: fc.nat() });

class World {
  readonly steps: Step[] = [];
  readonly storage: Storage;
  readonly db: Connection;
  private readonly session: ImportSession;
  private now = NOW;

  constructor(context: TestContext) {
    const file = join(temporaryFolder(context), 'registry.db');
    this.storage = storageAt(file);
    this.session = this.storage.openImportSession();
    this.db = openFile(file);
  }

  async close(): Promise<void> {
    this.db.close();
    await this.session.close();
  }

  /** Of rows with faults, the good ones are imported. */
  async import(kind: ImportKind, rows: readonly Cells[]): Promise<void> {
    const before = stateOf(this.db);
    const checked = await check(this.session, kind, rows, SKIPPING);
    if (checked.isRefused) return;
    const { importId } = await checked.apply(++this.now, RECORD);
    this.steps.push({ importId, before, after: stateOf(this.db), isUndone: false });
  }

  /** What the service does for a key: a member gets another name, or a payment comes or becomes void. */
  async write(at: number): Promise<void> {
    const before = stateOf(this.db);
    const registry = this.storage.openRegistry();
    const writes = [
      () => this.rename(registry, at),
      () => this.pay(registry, at),
      () => this.void(registry, at),
    ];
    try {
      await writes[at % writes.length]?.();
    } catch (error) {
      assert.ok(error instanceof RegistryError && error.code === 'invalid', String(error));
    }
    await registry.close();
    this.steps.push({ importId: undefined, before, after: stateOf(this.db), isUndone: false });
  }

  private async rename({ members }: RegistryStore, at: number): Promise<void> {
    const { rows } = await members.list({}, FIRST_PAGE);
    const chosen = rows[at % Math.max(rows.length, 1)];
    const rename = (fullName: string) => (fullName === 'Keza' ? 'Mugabo' : 'Keza');
    const decide = (stored: Member) => ({ ...stored, fullName: rename(stored.fullName) });
    if (chosen !== undefined) await members.update(chosen.id, decide, ++this.now, 'key:1');
  }

  private async pay({ loans, payments }: RegistryStore, at: number): Promise<void> {
    const { rows } = await loans.list({}, FIRST_PAGE);
    const chosen = rows[at % Math.max(rows.length, 1)];
    if (chosen === undefined) return;
    const values: PaymentValues = {
      ...{ loanId: chosen.id, amountMinor: 1 + (at % 5), method: 'cash', status: 'recorded' },
      ...{ reference: `H-${++this.now}`, paidAt: NOW - 86_400 },
    };
    await payments.create(values, (loan) => decideNewPayment(loan, values, KIGALI), this.now, 'key:1');
  }

  private async void({ payments }: RegistryStore, at: number): Promise<void> {
    const { rows } = await payments.list({}, FIRST_PAGE);
    const chosen = rows[at % Math.max(rows.length, 1)];
    if (chosen === undefined) return;
    const decide = (stored: PaymentRecord, loan: LoanRecord) =>
      decidePayment(stored, loan, { ...stored, status: 'void' }, KIGALI);
    await payments.update(chosen.id, decide, ++this.now, 'key:1');
  }

  /** @returns whether it was undone */
  async undo(step: Step): Promise<boolean> {
    const state = stateOf(this.db);
    const expected = !isBuiltOn(this.steps, step, state);
    const log = this.storage.openImportLog();
    const result = await log.undo(step.importId as number, ++this.now, 20);
    await log.close();
    assert.equal(result.outcome === 'undone', expected, JSON.stringify(result));
    assert.deepEqual(stateOf(this.db), expected ? undoInModel(state, step) : state);
    step.isUndone = expected;
    return expected;
  }

  get undoable(): Step[] {
    return this.steps.filter(({ importId, isUndone }) => importId !== undefined && !isUndone);
  }

  async assertSound(): Promise<void> {
    const faults = (await this.storage.check()).filter(({ fault }) => fault !== null);
    assert.deepEqual(faults, []);
    // Computed here too, in another way than by the check.
    const recorded = recordedOf(stateOf(this.db));
    const loans = this.db.raw.prepare('SELECT id, opening_balance_minor, paid_amount_minor FROM loans').all();
    for (const loan of loans as { id: number; opening_balance_minor: number; paid_amount_minor: number }[])
      assert.equal(
        loan.paid_amount_minor,
        loan.opening_balance_minor + (recorded.get(`loan ${loan.id}`) ?? 0),
      );
  }
}

const FIRST_PAGE = { page: 1, pageSize: 50 };

/** Undoes what can be undone, last to first, until nothing more can. */
async function undoAll(world: World): Promise<void> {
  for (const step of world.undoable.reverse()) await world.undo(step);
}

async function run(world: World, actions: readonly Action[]): Promise<void> {
  for (const action of actions) {
    if (action.kind === 'write') await world.write(action.at);
    else if (action.kind !== 'undo') await world.import(action.kind, action.rows);
    else {
      const step = world.undoable[action.at % Math.max(world.undoable.length, 1)];
      if (step !== undefined) await world.undo(step);
    }
    await world.assertSound();
  }
}

const START: readonly Action[] = [
  {
    kind: 'cooperatives',
    rows: [
      { code: 'A-1', name: 'One' },
      { code: 'B-2', name: 'Two' },
    ],
  },
  {
    kind: 'members',
    rows: [1, 2, 3].map((n) => ({
      ...{ cooperative_code: 'A-1', identity_card: nid(n), member_code: `M-${n}`, full_name: 'Keza' },
    })),
  },
];

test('imports that are undone in any valid order leave nothing behind', {
  timeout: 120_000,
}, async (context) => {
  const actions = fc.array(fc.oneof({ weight: 3, arbitrary: anyImport }, { weight: 1, arbitrary: undo }), {
    ...{ minLength: 3, maxLength: 9 },
  });
  await fc.assert(
    fc.asyncProperty(actions, async (chosen) => {
      const world = new World(context);
      try {
        await run(world, [...START, ...chosen]);
        await undoAll(world);
        assert.deepEqual([...stateOf(world.db)], []);
        assert.deepEqual(world.undoable, []);
        await world.assertSound();
        const counted = `SELECT * FROM member_counts WHERE members <> 0
          UNION ALL SELECT 0, status, members FROM member_blocks WHERE members <> 0
          UNION ALL SELECT * FROM loan_counts WHERE loans <> 0
          UNION ALL SELECT * FROM payment_counts WHERE payments <> 0`;
        assert.deepEqual(world.db.raw.prepare(counted).all(), []);
      } finally {
        await world.close();
      }
    }),
    { numRuns: 25 },
  );
});

test('an undo is refused exactly where something builds on the import', {
  timeout: 120_000,
}, async (context) => {
  const actions = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: anyImport },
      { weight: 3, arbitrary: undo },
      { weight: 1, arbitrary: write },
    ),
    { minLength: 4, maxLength: 12 },
  );
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(actions, async (chosen) => {
      const world = new World(context);
      try {
        await run(world, [...START, ...chosen]);
        const tried = world.undoable.length;
        await undoAll(world);
        refused += world.undoable.length === tried ? 0 : world.undoable.length;
      } finally {
        await world.close();
      }
    }),
    { numRuns: 25 },
  );
  assert.ok(refused > 0, 'No undo was refused.');
});
