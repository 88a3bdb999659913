/** A lookup gives what a computation from scratch over the rows gives (docs/api.md#looking-up-a-person). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { ApiKey } from '../../../src/domain/access/api-keys.ts';
import { LOAN_STATUSES } from '../../../src/domain/lending/loans.ts';
import { MEMBER_STATUSES } from '../../../src/domain/membership/members.ts';
import { KIGALI } from '../../../src/domain/values/date-time.ts';
import { lookUp, serializeConsolidated } from '../../../src/http/resources/members/lookup.ts';
import { NOON, temporaryFolder, testClock } from '../../support/app.ts';
import { openStore } from '../../support/sqlite.ts';

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

interface RandomLoan {
  readonly amount: number;
  readonly rate: number;
  readonly status: string;
  readonly paid: number;
  readonly start: number | null;
  readonly end: number | null;
  readonly approved: number | null;
}

interface RandomMember {
  readonly card: string;
  readonly cooperative: number;
  readonly name: string;
  readonly status: string;
  readonly registered: number;
  readonly gender: string | null;
  readonly born: string | null;
  readonly mobile: string | null;
  readonly production: readonly { readonly at: number; readonly grams: number }[];
  readonly loans: readonly RandomLoan[];
  readonly accounts: readonly (readonly {
    readonly kind: string;
    readonly amount: number;
    readonly at: number;
  }[])[];
}

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

const loan: fc.Arbitrary<RandomLoan> = fc.record({
  amount: money,
  rate: fc.integer({ min: 0, max: 10_000 }),
  status: fc.constantFrom(...LOAN_STATUSES),
  paid: fc.nat(1_000),
  start: instant,
  end: instant,
  approved: instant,
});

const member: fc.Arbitrary<RandomMember> = fc.record({
  card: fc.constantFrom(...CARDS),
  cooperative: fc.integer({ min: 1, max: 4 }),
  name: fc.constantFrom('Uwase Aline', 'Aline Uwase', 'UWASE Aline', 'Aline "Liné" \\ Uwase 😀'),
  status: fc.oneof(
    { weight: 3, arbitrary: fc.constant('active') },
    { weight: 1, arbitrary: fc.constantFrom(...MEMBER_STATUSES) },
  ),
  registered: fc.integer({ min: NOW - 3, max: NOW }),
  gender: fc.option(fc.constantFrom('MALE', 'FEMALE')),
  born: fc.option(fc.constantFrom('1985-01-01', '1986-02-03')),
  mobile: fc.option(fc.constantFrom('+250781234567', '+250791234567')),
  production: fc.array(
    fc.record({
      at: deliveredAt,
      grams: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant(9_999_999_999)),
    }),
    {
      maxLength: 12,
    },
  ),
  loans: fc.array(loan, { maxLength: 16, size: 'max' }),
  accounts: fc.array(
    fc.array(
      fc.record({
        kind: fc.constantFrom('contribution', 'withdrawal'),
        amount: money,
        at: fc.integer({ min: NOW - 9, max: NOW }),
      }),
      { maxLength: 5 },
    ),
    { maxLength: 3 },
  ),
});

const registry = fc.uniqueArray(member, {
  maxLength: 14,
  selector: ({ card, cooperative }) => `${card} ${cooperative}`,
});

/** Decimal text, only by string arithmetic. */
function decimal(units: bigint, digits: number): string {
  const text = units.toString().padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

const iso = (seconds: number | null): string | null =>
  seconds === null ? null : `${new Date((seconds + 7200) * 1000).toISOString().slice(0, 19)}+02:00`;

const sum = (values: readonly number[]): bigint => values.reduce((total, value) => total + BigInt(value), 0n);
const latest = (values: readonly number[]): string | null =>
  values.length === 0 ? null : iso(Math.max(...values));

function naiveLoans(loans: readonly RandomLoan[], ids: readonly number[]) {
  const group = ({ status, start }: RandomLoan): number => {
    if (status === 'pending' || (status === 'approved' && start === null)) return 1;
    if ((status === 'rejected' || status === 'cancelled') && start === null) return 3;
    return 2;
  };
  return loans
    .map((each, i) => ({ ...each, id: ids[i] as number }))
    .sort((a, b) => {
      if (group(a) !== group(b)) return group(a) - group(b);
      if (group(a) === 2 && a.start !== b.start) {
        if (a.start === null) return 1;
        if (b.start === null) return -1;
        return b.start - a.start;
      }
      return b.id - a.id;
    })
    .slice(0, 10)
    .map((each) => ({
      id: String(each.id),
      amount: decimal(BigInt(each.amount), 2),
      interest_rate: decimal(BigInt(each.rate), 2),
      status: each.status,
      paid_amount: decimal(BigInt(each.paid), 2),
      loan_start_date: iso(each.start),
      loan_end_date: iso(each.end),
      approved_at: iso(each.approved),
    }));
}

type Stored = RandomMember & { id: number; loanIds: number[] };

function naiveMembership(each: Stored, seesFinancials: boolean) {
  const inWindow = each.production.filter(({ at }) => at > NOW - 365 * DAY && at <= NOW);
  const transactions = each.accounts.flat();
  const total = (kind: string) =>
    decimal(sum(transactions.filter((t) => t.kind === kind).map((t) => t.amount)), 2);
  return {
    cooperative: {
      id: String(each.cooperative),
      code: `C-${each.cooperative}`,
      name: `Coop ${each.cooperative}`,
    },
    member_code: `M-${each.id}`,
    full_name: each.name,
    first_name: null,
    last_name: null,
    role: 'MEMBER',
    status: 'active',
    registration_date: iso(each.registered),
    mobile: each.mobile,
    production_summary: seesFinancials
      ? {
          window_days: 365,
          entries_count: inWindow.length,
          total_kg: decimal(sum(inWindow.map(({ grams }) => grams)), 3),
          last_delivery_at: latest(inWindow.map(({ at }) => at)),
        }
      : null,
    loan_history: seesFinancials ? naiveLoans(each.loans, each.loanIds) : null,
    savings_summary: seesFinancials
      ? {
          accounts_count: each.accounts.length,
          total_contributions_rwf: total('contribution'),
          total_withdrawals_rwf: total('withdrawal'),
          last_transaction_at: latest(transactions.map(({ at }) => at)),
        }
      : null,
  };
}

function naive(members: readonly Stored[], card: string, seesFinancials: boolean) {
  const active = members
    .filter((each) => each.card === card && each.status === 'active')
    .sort((a, b) => (a.registered === b.registered ? b.id - a.id : b.registered - a.registered));
  const [newest] = active;
  if (newest === undefined) return undefined;
  const known = <T>(values: (T | null)[]): T | null => values.find((value) => value !== null) ?? null;
  return {
    identity_card: card,
    primary_full_name: newest.name,
    name_variants: active.map(({ name }) => name).filter((name, i, all) => all.indexOf(name) === i),
    gender: known(active.map(({ gender }) => gender)),
    date_of_birth: known(active.map(({ born }) => born)),
    mobile: known(active.map(({ mobile }) => mobile)),
    memberships: active.map((each) => naiveMembership(each, seesFinancials)),
  };
}

test('the lookup of every person of a random registry equals a naive computation in exact arithmetic', async (context) => {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  const db = store.connection.raw;
  const tables = [
    'savings_transactions',
    'savings_accounts',
    'loans',
    'production_entries',
    'member_counts',
    'members',
  ];
  const insert = {
    member: db.prepare(
      `INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, gender, date_of_birth,
         mobile, role, status, registration_date, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1)`,
    ),
    production: db.prepare(
      `INSERT INTO production_entries (cooperative_id, member_id, reference, delivered_at, grams)
       VALUES (?, ?, ?, ?, ?)`,
    ),
    loan: db.prepare(
      `INSERT INTO loans (cooperative_id, member_id, reference, amount_minor, interest_rate_hundredths,
         status, paid_amount_minor, loan_start_date, loan_end_date, approved_at, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1)`,
    ),
    account: db.prepare(
      'INSERT INTO savings_accounts (cooperative_id, member_id, account_number) VALUES (?, ?, ?)',
    ),
    transaction: db.prepare(
      `INSERT INTO savings_transactions (cooperative_id, account_id, reference, kind, amount_minor,
         transacted_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ),
  };
  for (let i = 1; i <= 4; i++) {
    db.prepare(
      'INSERT INTO cooperatives (id, code, name, status, created_at, updated_at) VALUES (?, ?, ?, ?, 1, 1)',
    ).run(i, `C-${i}`, `Coop ${i}`, i === 4 ? 'dissolved' : 'active');
  }
  let reference = 0;

  function fill(members: readonly RandomMember[]): Stored[] {
    for (const table of tables) db.exec(`DELETE FROM ${table}`);
    return members.map((each, i) => {
      const id = i + 1;
      const { cooperative, card, name, gender, born, mobile, status, registered } = each;
      insert.member.run(
        id,
        cooperative,
        card,
        `M-${id}`,
        name,
        gender,
        born,
        mobile,
        'MEMBER',
        status,
        registered,
      );
      for (const { at, grams } of each.production)
        insert.production.run(cooperative, id, `R${++reference}`, at, grams);
      const loanIds = each.loans.map((l) =>
        Number(
          insert.loan.run(
            cooperative,
            id,
            `R${++reference}`,
            l.amount,
            l.rate,
            l.status,
            l.paid,
            l.start,
            l.end,
            l.approved,
          ).lastInsertRowid,
        ),
      );
      for (const transactions of each.accounts) {
        const account = insert.account.run(cooperative, id, `R${++reference}`).lastInsertRowid;
        for (const t of transactions)
          insert.transaction.run(cooperative, account, `R${++reference}`, t.kind, t.amount, t.at);
      }
      return { ...each, id, loanIds };
    });
  }

  const clock = testClock(NOON + 999);
  const keys = [
    [true, { scopes: ['members:read', 'members:financials'] }],
    [false, { scopes: ['members:read'] }],
  ] as unknown as [boolean, ApiKey][];
  await fc.assert(
    fc.asyncProperty(registry, async (members) => {
      // The reads of an iteration share a snapshot.
      await nextTurn();
      db.exec('BEGIN');
      const stored = fill(members);
      db.exec('COMMIT');
      for (const card of CARDS) {
        for (const [seesFinancials, key] of keys) {
          const expected = naive(stored, card, seesFinancials);
          const found = await lookUp(store.members, card, key, clock);
          const text = found && serializeConsolidated(found, KIGALI);
          assert.equal(text, expected && JSON.stringify(expected));
        }
      }
    }),
    { numRuns: 120 },
  );
});
