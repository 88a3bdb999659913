/**
 * A ledger that replaces an earlier import leaves what it would have left without that one, and its undo what
 * was there before it.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { checkStorage } from '../../../src/check/check.ts';
import { refreshReadModel } from '../../../src/health/derived-data-commands.ts';
import type { CheckedFile } from '../../../src/import/staging/apply-checked-file.ts';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import { openJournal } from '../../../src/journal/undo.ts';
import type { Storage } from '../../../src/sqlite/storage.ts';
import { temporaryFolder } from '../../support/app.ts';
import { createEmptyRegistry } from '../../support/empty-registry.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { type Connection, openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import {
  type Cells,
  COOPERATIVES,
  check,
  faultsOf,
  LATER,
  loan,
  NOW,
  person,
  RECORD,
  STRICT,
} from '../conformance/import-rows.ts';

const KINDS = ['production', 'savings', 'loans', 'payments'] as const;
type Kind = (typeof KINDS)[number];

/** Few values, so that rows of two versions are often equal, or of one member and day. */
const day = fc.integer({ min: 1, max: 3 }).map((days) => NOW - days * 86_400);
const amount = fc.constantFrom(1_000, 2_000, 3_500);
const number = fc.integer({ min: 1, max: 3 });
const reference = fc.integer({ min: 1, max: 8 }).map((n) => `R-${n}`);
const member = number.map((n) => ({ cooperative_code: 'A-1', member_code: `M-${n}` }));
const optional = fc.option(reference);

const ROWS: { readonly [kind in Kind]: fc.Arbitrary<Cells> } = {
  production: fc
    .tuple(
      member,
      fc.record({
        reference: optional,
        delivered_at: day,
        kg: amount,
        product: fc.constantFrom('milk', null),
      }),
    )
    .map(([of, row]) => ({ ...of, ...row })),
  savings: fc
    .tuple(
      number,
      fc.record({
        reference: optional,
        kind: fc.constantFrom('contribution', 'withdrawal'),
        amount,
        transacted_at: day,
      }),
      fc.nat({ max: 1 }),
    )
    .map(([n, row, account]) => ({
      ...{ cooperative_code: 'A-1', member_code: `M-${n}`, account_number: `S-${n}-${account}` },
      ...row,
    })),
  loans: fc
    .tuple(
      member,
      fc.record({
        reference,
        amount,
        interest_rate: fc.constantFrom(500, 1_000),
        status: fc.constant('approved'),
      }),
    )
    .map(([of, row]) => ({ ...of, ...row })),
  payments: fc
    .tuple(
      number,
      fc.record({
        reference,
        amount,
        method: fc.constant('cash'),
        status: fc.constant('recorded'),
        paid_at: day,
      }),
    )
    .map(([n, row]) => ({ cooperative_code: 'A-1', loan_reference: `L-${n}`, ...row })),
};

/** The rows without their ids, and what follows from them. */
const TABLES = {
  production: `SELECT c.code, m.member_code, reference, delivered_at, grams, product FROM production_entries t
    JOIN members m ON m.id = t.member_id JOIN cooperatives c ON c.id = t.cooperative_id ORDER BY 1, 2, 3`,
  savings: `SELECT m.member_code, a.account_number, t.reference, t.kind, t.amount_minor, t.transacted_at
    FROM savings_accounts a JOIN members m ON m.id = a.member_id
    LEFT JOIN savings_transactions t ON t.account_id = a.id ORDER BY 1, 2, 3`,
  loans: `SELECT m.member_code, reference, amount_minor, interest_rate_hundredths, t.status,
      paid_amount_minor, opening_balance_minor
    FROM loans t JOIN members m ON m.id = t.member_id ORDER BY 1, 2`,
  payments: `SELECT l.reference AS loan, t.reference, t.amount_minor, t.method, t.status, t.paid_at
    FROM payments t JOIN loans l ON l.id = t.loan_id ORDER BY 1, 2`,
};
const STORED = ['production_entries', 'savings_accounts', 'savings_transactions', 'loans', 'payments'];
const VALUES = { savings_accounts: '*', production_entries: '*', savings_transactions: '*' };

class World {
  readonly storage: Storage;
  readonly db: Connection;

  constructor(context: TestContext) {
    const file = join(temporaryFolder(context), 'registry.db');
    this.storage = storageAt(file);
    createEmptyRegistry(file);
    this.db = openFile(file);
  }

  /** @returns the id of the import */
  async load(
    kind: Kind | 'cooperatives' | 'members',
    rows: readonly Cells[],
    replaces?: number,
  ): Promise<number> {
    const session = openImportSession(this.storage);
    try {
      const checked: CheckedFile = await check(session, kind, rows, { ...STRICT, replaces });
      assert.ok(!checked.isRefused, JSON.stringify(await faultsOf(checked)));
      return (await checked.apply(LATER, RECORD)).importId;
    } finally {
      await session.close();
    }
  }

  async start(earlier: readonly Cells[], kind: Kind): Promise<void> {
    await this.load('cooperatives', COOPERATIVES);
    await this.load('members', [person(1), person(2), person(3)]);
    await this.load(
      'loans',
      [1, 2, 3].map((n) => ({ ...loan(n, `L-${n}`, 100_000), status: 'approved' })),
    );
    if (earlier.length > 0) await this.load(kind, earlier);
  }

  all = (sql: string): unknown[] => this.db.raw.prepare(sql).all();
  rows = (): unknown => Object.values(TABLES).map(this.all);
  /** With ids; a loan or payment that comes back has another time of change. */
  stored = (): unknown =>
    STORED.map((table) =>
      this.all(`SELECT * FROM ${table} ORDER BY id`).map((row) =>
        table in VALUES ? row : { ...(row as object), updated_at: 0 },
      ),
    );

  async assertSound(): Promise<void> {
    await refreshReadModel(this.storage, LATER);
    const faults = (await checkStorage(this.storage)).filter(({ fault }) => fault !== null);
    assert.deepEqual(faults, []);
  }
}

/** Each reference once; equal rows without one may repeat. */
const ledger = (kind: Kind, least: number): fc.Arbitrary<Cells[]> =>
  fc
    .array(ROWS[kind], { minLength: least, maxLength: 8 })
    .map((rows) =>
      rows.filter(
        (row, i) =>
          row.reference === null || rows.findIndex((other) => other.reference === row.reference) === i,
      ),
    );

/** Rows that were there before, and are in neither version. */
const earlierOf = (rows: readonly Cells[]): Cells[] =>
  rows.map((row, i) => ({ ...row, reference: `E-${i}` }));

for (const kind of KINDS) {
  test(`a ${kind} file that replaces an import equals that file alone, and its undo brings back the import`, {
    timeout: 300_000,
  }, async (context) => {
    await fc.assert(
      fc.asyncProperty(
        ledger(kind, 0),
        ledger(kind, 1),
        ledger(kind, 1),
        ledger(kind, 1),
        async (earlier, first, second, third) => {
          const world = new World(context);
          const alone = new World(context);
          try {
            await world.start(earlierOf(earlier), kind);
            await alone.start(earlierOf(earlier), kind);
            const versions = [await world.load(kind, first)];
            const states = [world.stored()];
            for (const version of [second, third]) {
              versions.push(await world.load(kind, version, versions.at(-1)));
              states.push(world.stored());
            }
            await alone.load(kind, third);
            assert.deepEqual(world.rows(), alone.rows());
            await world.assertSound();
            const log = openJournal(world.storage);
            for (const id of versions.slice(1).toReversed()) {
              assert.equal(
                (await log.undo(id - 1, 1, { systemUser: 'tester', nowSeconds: LATER })).outcome,
                'refused',
              );
              assert.equal(
                (await log.undo(id, 1, { systemUser: 'tester', nowSeconds: LATER })).outcome,
                'undone',
              );
              states.pop();
              assert.deepEqual(world.stored(), states.at(-1));
              await world.assertSound();
            }
            await log.close();
          } finally {
            world.db.close();
            alone.db.close();
          }
        },
      ),
      { numRuns: quickOrLong(2, 20) },
    );
  });
}
