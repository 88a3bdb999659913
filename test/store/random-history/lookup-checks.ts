/** What a lookup must give, computed from all rows in exact arithmetic (docs/api.md#looking-up-a-person). */
import assert from 'node:assert/strict';
import type { ApiKey } from '../../../src/access/api-keys.ts';
import type { RegistryStore } from '../../../src/open-registry.ts';
import { lookUp, serializeConsolidated } from '../../../src/registry/routes/lookup.ts';
import { KIGALI } from '../../../src/values/date-time.ts';
import { type Row, type Rows, rowsOf } from './rows.ts';

const WINDOW = 365 * 86_400;

/** Decimal text, only by string arithmetic. */
function decimal(units: bigint, digits: number): string {
  const text = units.toString().padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
const sumOf = (rows: readonly Row[], column: string): bigint =>
  rows.reduce((total, row) => total + BigInt(row[column] as number), 0n);
const instant = (seconds: unknown): string | null =>
  seconds === null
    ? null
    : `${new Date(((seconds as number) + 7200) * 1000).toISOString().slice(0, 19)}+02:00`;
const latest = (rows: readonly Row[], column: string): string | null =>
  rows.length === 0 ? null : instant(Math.max(...rows.map((row) => row[column] as number)));

/** What was granted first, then what was asked for, last what came to nothing. */
const PHASES = [['approved', 'defaulted', 'paid'], ['pending'], ['rejected', 'cancelled']];

const phaseOf = ({ status }: Row): number =>
  PHASES.findIndex((statuses) => statuses.includes(String(status)));

/** Without a start date first, then the latest start; of equal ones the higher id. */
function beforeInHistory(a: Row, b: Row): number {
  const [startA, startB] = [a, b].map((row) => (row.loan_start_date as number | null) ?? Infinity);
  if (phaseOf(a) !== phaseOf(b)) return phaseOf(a) - phaseOf(b);
  if (startA !== startB) return (startB as number) > (startA as number) ? 1 : -1;
  return (b.id as number) - (a.id as number);
}

const loanOf = (loan: Row) => ({
  id: String(loan.id),
  amount: decimal(BigInt(loan.amount_minor as number), 2),
  interest_rate: decimal(BigInt(loan.interest_rate_hundredths as number), 2),
  status: loan.status,
  paid_amount: decimal(BigInt(loan.paid_amount_minor as number), 2),
  loan_start_date: instant(loan.loan_start_date),
  loan_end_date: instant(loan.loan_end_date),
  approved_at: instant(loan.approved_at),
});

function financialsOf(rows: Rows, { id }: Row, at: number) {
  const own = (entity: 'delivery' | 'loan' | 'account') =>
    rowsOf(rows, entity).filter(({ member_id }) => member_id === id);
  const inWindow = own('delivery').filter(({ delivered_at }) => {
    const since = at - (delivered_at as number);
    return since >= 0 && since < WINDOW;
  });
  const accounts = own('account');
  const transactions = rowsOf(rows, 'transaction').filter(({ account_id }) =>
    accounts.some((account) => account.id === account_id),
  );
  const total = (kind: string) =>
    decimal(
      sumOf(
        transactions.filter((each) => each.kind === kind),
        'amount_minor',
      ),
      2,
    );
  return {
    production_summary: {
      ...{ window_days: 365, entries_count: inWindow.length, total_kg: decimal(sumOf(inWindow, 'grams'), 3) },
      last_delivery_at: latest(inWindow, 'delivered_at'),
    },
    loan_history: own('loan').sort(beforeInHistory).slice(0, 10).map(loanOf),
    savings_summary: {
      accounts_count: accounts.length,
      total_contributions_rwf: total('contribution'),
      total_withdrawals_rwf: total('withdrawal'),
      last_transaction_at: latest(transactions, 'transacted_at'),
    },
  };
}

const NO_FINANCIALS = { production_summary: null, loan_history: null, savings_summary: null };

/** @param at null for a key without the financials */
function naiveLookup(rows: Rows, identityCard: string, at: number | null) {
  const active = rowsOf(rows, 'member')
    .filter((each) => each.identity_card === identityCard && each.status === 'active')
    .sort(
      (a, b) =>
        (b.registration_date as number) - (a.registration_date as number) ||
        (b.id as number) - (a.id as number),
    );
  const [newest] = active;
  if (newest === undefined) return undefined;
  const known = (column: string) =>
    active.map((each) => each[column]).find((value) => value !== null) ?? null;
  return {
    identity_card: identityCard,
    primary_full_name: newest.full_name,
    name_variants: [...new Set(active.map(({ full_name }) => full_name))],
    gender: known('gender'),
    date_of_birth: known('date_of_birth'),
    mobile: known('mobile'),
    memberships: active.map((member) => {
      const { id, code, name } = rows.get(`cooperative ${member.cooperative_id}`) as Row;
      const { member_code, full_name, first_name, last_name, role, status } = member;
      return {
        cooperative: { id: String(id), code, name },
        ...{ member_code, full_name, first_name, last_name, role, status },
        registration_date: instant(member.registration_date),
        mobile: member.mobile,
        ...(at === null ? NO_FINANCIALS : financialsOf(rows, member, at)),
      };
    }),
  };
}

const SCOPES = ['members:read', 'members:financials'];
const callerWith = (scopes: readonly string[]) => ({ scopes }) as unknown as ApiKey;

/** @param at epoch seconds of the lookups */
export async function checkLookups(
  { members }: RegistryStore,
  rows: Rows,
  identityCards: Iterable<string>,
  at: number,
): Promise<void> {
  const clock = { now: () => at * 1000 + 999, monotonicMs: () => 0 };
  for (const identityCard of identityCards)
    for (const scopes of [SCOPES, SCOPES.slice(0, 1)]) {
      const found = await lookUp(members, identityCard, callerWith(scopes), clock);
      const expected = naiveLookup(rows, identityCard, scopes === SCOPES ? at : null);
      assert.equal(found && serializeConsolidated(found, KIGALI), expected && JSON.stringify(expected));
    }
}
