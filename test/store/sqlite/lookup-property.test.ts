/** A lookup gives what a computation from scratch over the rows gives (docs/api.md#looking-up-a-person). */
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { LOAN_STATUSES } from '../../../src/registry/loans.ts';
import { MEMBER_STATUSES } from '../../../src/registry/members.ts';
import { NOON, temporaryFolder } from '../../support/app.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { openStore } from '../../support/sqlite.ts';
import { checkLookups } from '../random-history/lookup-checks.ts';
import { type Entity, type Row, readRows, TABLES } from '../random-history/rows.ts';

const NOW = NOON / 1000;
const DAY = 86_400;
const CARDS = [
  '1198589000123042',
  '1198589000123043',
  '9007199254740993',
  '9007199254740992',
  '0000000000000001',
];
const LARGEST_MONEY = 99_999_999_999_999;

// Around both edges of the window, and anywhere.
const deliveredAt = fc.oneof(
  fc.constantFrom(0, 1, -1).map((d) => NOW + d),
  fc.constantFrom(0, 1, -1).map((d) => NOW - 365 * DAY + d),
  fc.integer({ min: NOW - 500 * DAY, max: NOW }),
);
const money = fc.oneof(
  fc.integer({ min: 1, max: 999 }),
  fc.constantFrom(10, 20, 30, LARGEST_MONEY, LARGEST_MONEY - 1),
);
const instant = fc.option(fc.integer({ min: NOW - 5, max: NOW + 5 }));

const MEMBER = fc.record({
  identity_card: fc.constantFrom(...CARDS),
  cooperative_id: fc.integer({ min: 1, max: 4 }),
  full_name: fc.constantFrom('Uwase Aline', 'Aline Uwase', 'UWASE Aline', 'Aline "Liné" \\ Uwase 😀'),
  status: fc.oneof(
    { weight: 3, arbitrary: fc.constant('active') },
    { weight: 1, arbitrary: fc.constantFrom(...MEMBER_STATUSES) },
  ),
  registration_date: fc.integer({ min: NOW - 3, max: NOW }),
  gender: fc.option(fc.constantFrom('MALE', 'FEMALE')),
  date_of_birth: fc.option(fc.constantFrom('1985-01-01', '1986-02-03')),
  mobile: fc.option(fc.constantFrom('+250781234567', '+250791234567')),
});
const DELIVERY = fc.record({
  delivered_at: deliveredAt,
  grams: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant(9_999_999_999)),
});
const LOAN = fc.record({
  ...{ amount_minor: money, interest_rate_hundredths: fc.integer({ min: 0, max: 10_000 }) },
  ...{ status: fc.constantFrom(...LOAN_STATUSES), paid_amount_minor: fc.nat(1_000) },
  ...{ loan_start_date: instant, loan_end_date: instant, approved_at: instant },
});
const TRANSACTION = fc.record({
  ...{ kind: fc.constantFrom('contribution', 'withdrawal'), amount_minor: money },
  transacted_at: fc.integer({ min: NOW - 9, max: NOW }),
});
const membership = fc.record({
  member: MEMBER,
  deliveries: fc.array(DELIVERY, { maxLength: 12 }),
  loans: fc.array(LOAN, { maxLength: 16, size: 'max' }),
  accounts: fc.array(fc.array(TRANSACTION, { maxLength: 5 }), { maxLength: 3 }),
});
const registry = fc.uniqueArray(membership, {
  maxLength: 14,
  selector: ({ member }) => `${member.identity_card} ${member.cooperative_id}`,
});

test('the lookup of every person of a random registry equals a naive computation in exact arithmetic', async (context) => {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  const db = store.connection.raw;
  const insert = (entity: Entity, row: Row): number => {
    const columns = Object.keys(row);
    const sql = `INSERT INTO ${TABLES[entity]} (${columns}) VALUES (${columns.map((name) => `@${name}`)})`;
    return Number(db.prepare(sql).run(row).lastInsertRowid);
  };
  const written = { created_at: 1, updated_at: 1 };
  for (const [i, status] of ['active', 'active', 'active', 'dissolved'].entries())
    insert('cooperative', { id: i + 1, code: `C-${i + 1}`, name: `Coop ${i + 1}`, status, ...written });

  await fc.assert(
    fc.asyncProperty(registry, async (memberships) => {
      // The reads of an iteration share a snapshot.
      await nextTurn();
      db.exec(`BEGIN; DELETE FROM savings_transactions; DELETE FROM savings_accounts; DELETE FROM loans;
        DELETE FROM production_entries; DELETE FROM members`);
      let reference = 0;
      for (const { member, deliveries, loans, accounts } of memberships) {
        const { cooperative_id } = member;
        const member_code = `M-${++reference}`;
        const member_id = insert('member', { ...member, member_code, role: 'MEMBER', ...written });
        const owned = () => ({ cooperative_id, member_id, reference: `R${++reference}` });
        for (const delivery of deliveries) insert('delivery', { ...owned(), ...delivery });
        for (const loan of loans) insert('loan', { ...owned(), ...loan, ...written });
        for (const transactions of accounts) {
          const account_number = `S${++reference}`;
          const account_id = insert('account', { cooperative_id, member_id, account_number });
          for (const transaction of transactions)
            insert('transaction', {
              ...{ cooperative_id, account_id, reference: `R${++reference}`, ...transaction },
            });
        }
      }
      db.exec('COMMIT');
      await checkLookups(store, readRows(store.connection), CARDS, NOW);
    }),
    { numRuns: quickOrLong(40, 200) },
  );
});
