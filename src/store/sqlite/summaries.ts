/**
 * The read model of a lookup: what it needs of a member's entries, kept beside the member as data. Its parts are
 * compact JSON arrays, without names, dates as text or time zone: those belong to whoever shows them.
 *
 * Triggers mark a part (NULL) in the transaction that changes its entries, so a part that is there is right. A lookup
 * never writes: it computes what is marked. `refreshSummaries` fills marks in, after an import.
 */
import type { Financials, ProductionSummary, SavingsSummary } from '../../domain/consolidated-member.ts';
import { DAY_SECONDS } from '../../domain/date-time.ts';
import type { ExactInteger } from '../../domain/decimal.ts';
import type { Loan, LoanStatus } from '../../domain/loans.ts';
import { composeDays, summarizeProduction, sumWholeDays, windowStart } from '../../domain/production.ts';
import type { Connection } from './database.ts';
import { type FinancialStatements, openFinancials } from './financials.ts';

/** How far before the window deliveries stay in a summary, for a wall clock that steps back. */
const KNOWN_DAYS = 31;
/** With no more deliveries than this, adding them up anew is as quick as running totals by day. */
const FEW_DELIVERIES = 64;

/** The parts of a member's row; null for a part that is marked. */
interface StoredParts {
  readonly production: string | null;
  readonly loans: string | null;
  readonly savings: string | null;
}

type Exact = number | string;
type ProductionPart = [
  validFrom: number,
  validUntil: number | null,
  count: number,
  grams: Exact,
  lastAt: number | null,
];
type LoanPart = [number, number, number, LoanStatus, number, number | null, number | null, number | null];
type SavingsPart = [accounts: number, contributions: Exact, withdrawals: Exact, lastAt: number | null];

// JSON holds integers above 2^53 only as text.
const packExact = (value: ExactInteger): Exact => (typeof value === 'bigint' ? String(value) : value);
const unpackExact = (value: Exact): ExactInteger => (typeof value === 'string' ? BigInt(value) : value);

const packLoans = (loans: readonly Loan[]): string =>
  JSON.stringify(
    loans.map(
      (loan): LoanPart => [
        loan.id,
        loan.amountMinor,
        loan.interestRateHundredths,
        loan.status,
        loan.paidAmountMinor,
        loan.loanStartDate,
        loan.loanEndDate,
        loan.approvedAt,
      ],
    ),
  );

const unpackLoans = (part: string): Loan[] =>
  (JSON.parse(part) as LoanPart[]).map((loan) => ({
    id: loan[0],
    amountMinor: loan[1],
    interestRateHundredths: loan[2],
    status: loan[3],
    paidAmountMinor: loan[4],
    loanStartDate: loan[5],
    loanEndDate: loan[6],
    approvedAt: loan[7],
  }));

function packSavings(savings: SavingsSummary): string {
  const part: SavingsPart = [
    savings.accountsCount,
    packExact(savings.totalContributionsMinor),
    packExact(savings.totalWithdrawalsMinor),
    savings.lastTransactionAt,
  ];
  return JSON.stringify(part);
}

function unpackSavings(text: string): SavingsSummary {
  const part = JSON.parse(text) as SavingsPart;
  return {
    accountsCount: part[0],
    totalContributionsMinor: unpackExact(part[1]),
    totalWithdrawalsMinor: unpackExact(part[2]),
    lastTransactionAt: part[3],
  };
}

interface PackedProduction {
  readonly production: string;
  readonly days: Uint8Array | null;
}

/** @param at epoch seconds */
function packProduction(memberId: number, at: number, financials: FinancialStatements): PackedProduction {
  const knownFrom = (Math.floor(windowStart(at) / DAY_SECONDS) - KNOWN_DAYS) * DAY_SECONDS;
  const deliveries = financials.deliveriesOf(memberId, knownFrom);
  const dated = summarizeProduction(deliveries, at, knownFrom);
  const part: ProductionPart = [
    dated.validFrom,
    dated.validUntil,
    dated.entriesCount,
    packExact(dated.totalGrams),
    dated.lastDeliveryAt,
  ];
  return {
    production: JSON.stringify(part),
    days: deliveries.length > FEW_DELIVERIES ? composeDays(deliveries, knownFrom) : null,
  };
}

const EMPTY: Financials = {
  production: { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null },
  loans: [],
  savings: {
    accountsCount: 0,
    totalContributionsMinor: 0,
    totalWithdrawalsMinor: 0,
    lastTransactionAt: null,
  },
};

/** @returns what gives the blocks of one membership from its stored parts, computing those marked or out of date */
export function openSummaries(db: Connection) {
  const financials = openFinancials(db);
  const selectParts = db.prepare<[number], StoredParts>(
    'SELECT production, loans, savings FROM member_summaries WHERE member_id = ?',
  );
  const selectDays = db.prepare<[number], { days: Uint8Array | null }>(
    'SELECT days FROM member_summaries WHERE member_id = ?',
  );

  function production(memberId: number, part: string | null, at: number): ProductionSummary {
    if (part === null) return financials.productionOf(memberId, at);
    const [validFrom, validUntil, entriesCount, grams, lastDeliveryAt] = JSON.parse(part) as ProductionPart;
    if (at >= validFrom && (validUntil === null || at < validUntil)) {
      return { entriesCount, totalGrams: unpackExact(grams), lastDeliveryAt };
    }
    const days = selectDays.get(memberId)?.days;
    const whole = days ? sumWholeDays(days, at) : undefined;
    return whole === undefined
      ? financials.productionOf(memberId, at)
      : financials.productionOfDays(memberId, at, whole);
  }

  /** @param at epoch seconds: the end of the production window */
  return (memberId: number, at: number): Financials => {
    const stored = selectParts.get(memberId);
    // No entry of it was ever written, or the triggers would have made a row.
    if (stored === undefined) return EMPTY;
    return {
      production: production(memberId, stored.production, at),
      loans: stored.loans === null ? financials.loansOf(memberId) : unpackLoans(stored.loans),
      savings: stored.savings === null ? financials.savingsOf(memberId) : unpackSavings(stored.savings),
    };
  };
}

interface MissingRow extends StoredParts {
  readonly member_id: number;
}

/** Members of one transaction: it holds the lock for some 50 ms. */
const BATCH = 2_000;
const MISSING = 'production IS NULL OR loans IS NULL OR savings IS NULL';

/**
 * Computes every marked part, in transactions small enough that other writers do not wait for them.
 * @param pause called between two of them, for a writer that waits
 * @returns how many members were marked
 */
export function refreshSummaries(db: Connection, nowSeconds: number, pause: () => void): number {
  const financials = openFinancials(db);
  const listMissing = db.prepare<[], MissingRow>(
    `SELECT member_id, production, loans, savings FROM main.member_summaries INDEXED BY member_summaries_missing
     WHERE ${MISSING} LIMIT ${BATCH}`,
  );
  const storeProduction = db.prepare<[string, Uint8Array | null, number]>(
    'UPDATE main.member_summaries SET production = ?, days = ? WHERE member_id = ?',
  );
  const storeLoans = db.prepare<[string, number]>(
    'UPDATE main.member_summaries SET loans = ? WHERE member_id = ?',
  );
  const storeSavings = db.prepare<[string, number]>(
    'UPDATE main.member_summaries SET savings = ? WHERE member_id = ?',
  );
  const storeAll = db.prepare<[string, Uint8Array | null, string, string, number]>(
    'UPDATE main.member_summaries SET production = ?, days = ?, loans = ?, savings = ? WHERE member_id = ?',
  );

  function refresh({ member_id: id, production, loans, savings }: MissingRow): void {
    if (production === null && loans === null && savings === null) {
      const packed = packProduction(id, nowSeconds, financials);
      const [allLoans, allSavings] = [
        packLoans(financials.loansOf(id)),
        packSavings(financials.savingsOf(id)),
      ];
      storeAll.run(packed.production, packed.days, allLoans, allSavings, id);
      return;
    }
    if (production === null) {
      const packed = packProduction(id, nowSeconds, financials);
      storeProduction.run(packed.production, packed.days, id);
    }
    if (loans === null) storeLoans.run(packLoans(financials.loansOf(id)), id);
    if (savings === null) storeSavings.run(packSavings(financials.savingsOf(id)), id);
  }

  let refreshed = 0;
  for (;;) {
    const count = db.immediately(() => {
      const missing = listMissing.all();
      for (const row of missing) refresh(row);
      return missing.length;
    });
    refreshed += count;
    if (count < BATCH) return refreshed;
    pause();
  }
}
