/** What the rules of the read model store for a sample: a change of any of them changes its fingerprint. */
import { createHash } from 'node:crypto';
import { LOAN_STATUSES } from '../../../src/registry/loans.ts';
import { refreshStale, VERSION_LENGTH } from '../../../src/registry/stores/read-model.ts';
import type { Connection } from '../../../src/sqlite/connection.ts';
import { openTemporary } from '../../../src/sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../../../src/sqlite/schemas.ts';
import { KIGALI } from '../../../src/values/date-time.ts';

/** A hash of what is stored for the sample, without the version of the rules. */
export function fingerprintReadModel(): string {
  const db = openTemporary(REGISTRY_SCHEMA, {});
  try {
    db.transaction.immediate(() => insertSample(db));
    const format = { version: 'x'.repeat(VERSION_LENGTH), zone: KIGALI };
    refreshStale(db, format, { nowSeconds: NOW, pause: () => {} });
    const stored = db.raw.prepare('SELECT id, production, loans, savings FROM members ORDER BY id').all();
    return createHash('sha256').update(JSON.stringify(stored)).digest('hex').slice(0, 16);
  } finally {
    db.close();
  }
}

/** 2025-06-15T10:00:00Z. Nothing of the sample is taken from the rules, or it would move with them. */
const NOW = 1_749_981_600;
const DAY = 86_400;

/**
 * Ages in days around both edges of a window of 365 days, of the known days before it, and of shorter
 * windows.
 */
const EDGES = [0, 1, 7, 30, 31, 90, 180, 359, 360, 364, 365, 366, 395, 396, 397, 398, 730];
/** More deliveries than are listed, or added up again. */
const MANY = 70;
/** Sums that no double holds. */
const LARGE = 9_007_199_254_740_991;

function insertSample(db: Connection): void {
  db.exec(
    `INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
     VALUES (1, 'A', 'A', 'active', 1, 1)`,
  );
  const insert = db.raw.prepare(
    `INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
       registration_date, created_at, updated_at) VALUES (?, 1, ?, ?, 'N', 'MEMBER', 'active', 1, 1, 1)`,
  );
  for (let id = 1; id <= 6; id++) insert.run(id, String(id).padStart(16, '0'), String(id));
  insertDeliveries(db);
  insertLoans(db);
  insertSavings(db);
}

function insertDeliveries(db: Connection): void {
  const insert = db.raw.prepare(
    `INSERT INTO production_entries (cooperative_id, member_id, reference, delivered_at, grams, product)
     VALUES (1, ?, ?, ?, ?, ?)`,
  );
  let reference = 0;
  const add = (memberId: number, at: number, grams: number) =>
    insert.run(memberId, `P${++reference}`, at, grams, reference % 2 === 0 ? null : 'milk');
  // Different powers of two: which of them were summed follows from the sum.
  for (const [i, days] of EDGES.entries())
    for (const second of [-1, 0, 1]) add(1, NOW - days * DAY + second, 2 ** (i * 3 + second + 1));
  for (let i = 0; i < MANY; i++) add(2, NOW - i * 5 * DAY - i, 1_000 + i);
  for (const days of [1, 2, 3]) add(3, NOW - days * DAY, LARGE);
}

/** Loans of two dates and of none, in every status; each two statuses meet in a history that is not cut. */
function insertLoans(db: Connection): void {
  const insert = db.raw.prepare(
    `INSERT INTO loans (cooperative_id, member_id, reference, amount_minor, interest_rate_hundredths, status,
       paid_amount_minor, loan_start_date, loan_end_date, approved_at, created_at, updated_at)
     VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1)`,
  );
  let reference = 0;
  function add(memberId: number, statuses: readonly string[]): void {
    for (const [i, status] of statuses.entries()) {
      for (const start of [null, NOW - Math.floor(i / 2) * DAY]) {
        const n = ++reference;
        const [end, approved] = n % 3 === 0 ? [null, NOW - n] : [NOW + n * DAY, null];
        insert.run(memberId, `L${n}`, 100_000 * n + n, 1_000 + n, status, n * 7, start, end, approved);
      }
    }
  }
  const [a, b, c] = [LOAN_STATUSES.slice(0, 2), LOAN_STATUSES.slice(2, 4), LOAN_STATUSES.slice(4)];
  add(1, [...a, ...b]);
  add(2, [...b, ...c]);
  add(3, [...c, ...a]);
  add(4, [...LOAN_STATUSES, ...LOAN_STATUSES]);
}

function insertSavings(db: Connection): void {
  const account = db.raw.prepare(
    'INSERT INTO savings_accounts (id, cooperative_id, member_id, account_number) VALUES (?, 1, ?, ?)',
  );
  const transaction = db.raw.prepare(
    `INSERT INTO savings_transactions (cooperative_id, account_id, reference, kind, amount_minor,
       transacted_at)
     VALUES (1, ?, ?, ?, ?, ?)`,
  );
  for (const [id, memberId] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
  ] as const)
    account.run(id, memberId, `S${id}`);
  for (const [i, [accountId, kind, amount, days]] of (
    [
      [1, 'contribution', 1, 400],
      [1, 'contribution', 2, 3],
      [1, 'withdrawal', 4, 2],
      [2, 'contribution', 8, 30],
      [2, 'withdrawal', 16, 1],
      [3, 'contribution', LARGE, 5],
      [3, 'contribution', LARGE, 6],
      [3, 'withdrawal', 32, 7],
    ] as const
  ).entries())
    transaction.run(accountId, `T${i}`, kind, amount, NOW - days * DAY);
}
