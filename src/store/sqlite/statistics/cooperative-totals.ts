/** The sums of one cooperative, each computed from its rows. */
import type { LoanStatus } from '../../../domain/lending/loans.ts';
import {
  addCount,
  addExact,
  type CooperativeTotals,
  inOrder,
  isRepaid,
  type MemberTotals,
  type Month,
  noLoans,
  noMembers,
  type ProductTotals,
  UNKNOWN_GENDER,
} from '../../../domain/statistics.ts';
import { DAY_SECONDS, formatDate, type TimeZone } from '../../../domain/values/date-time.ts';
import type { ExactInteger } from '../../../domain/values/decimal.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../identity/erased-rows.ts';
import { type ExactSum, exactSum, toExactInteger } from '../read-model/compute.ts';

const ALL_ROWS = 'all rows of one cooperative, outside the event loop';

type MemberRow = [status: string, gender: string | null, role: string, registered: number];
type DeliveryRow = [memberId: number, at: number, grams: number, product: string | null];
type LoanRow = [status: LoanStatus, amount: number, paid: number];

/** @param zone in which months and years begin */
export function openCooperativeTotals(db: Connection, zone: TimeZone) {
  // The indexes are named: the planner cannot know that a cooperative has few of the rows.
  const members = db.prepareTuples<[number], MemberRow>(
    `SELECT status, gender, role, registration_date FROM members INDEXED BY members_cooperative_status
     WHERE cooperative_id = ? AND status <> '${ERASED_STATUS}'`,
    ALL_ROWS,
  );
  const deliveries = db.prepareTuples<[id: number, from: number, until: number], DeliveryRow>(
    `SELECT member_id, delivered_at, grams, product
     FROM production_entries INDEXED BY production_entries_reference
     WHERE cooperative_id = ? AND delivered_at >= ? AND delivered_at < ?`,
    ALL_ROWS,
  );
  const loans = db.prepareTuples<[number], LoanRow>(
    `SELECT status, amount_minor, paid_amount_minor FROM loans INDEXED BY loans_cooperative_status
     WHERE cooperative_id = ?`,
    ALL_ROWS,
  );
  const accounts = db.prepare<[number], { count: number }>(
    'SELECT count(*) AS count FROM savings_accounts WHERE cooperative_id = ?',
    ALL_ROWS,
  );
  const transactions = db.prepare<[number], ExactSum & { kind: string }>(
    `SELECT t.kind, ${exactSum('t.amount_minor')}
     FROM savings_accounts a INDEXED BY savings_accounts_number
     CROSS JOIN savings_transactions t INDEXED BY savings_transactions_account ON t.account_id = a.id
     WHERE a.cooperative_id = ? GROUP BY t.kind`,
    ALL_ROWS,
  );

  return {
    members(id: number): MemberTotals {
      const totals = noMembers();
      for (const [status, gender, role, registered] of members.iterate(id)) {
        totals.total++;
        addCount(totals.byStatus, status);
        addCount(totals.byJoiningYear, formatDate(registered, zone).slice(0, 4));
        if (status !== 'active') continue;
        addCount(totals.byGender, gender ?? UNKNOWN_GENDER);
        addCount(totals.byRole, role);
      }
      return totals;
    },

    /** @param months as `monthsUntil` gives them */
    production(id: number, months: readonly Month[]): readonly ProductTotals[] {
      const groups = new ProductGroups(months);
      for (const row of deliveries.iterate(id, groups.from, groups.until)) groups.add(row);
      return groups.totals();
    },

    loans(id: number): CooperativeTotals['loans'] {
      const totals = noLoans();
      for (const [status, amount, paid] of loans.iterate(id)) {
        const sum = totals[status];
        sum.count++;
        sum.amountMinor = addExact(sum.amountMinor, amount);
        sum.paidAmountMinor = addExact(sum.paidAmountMinor, paid);
        if (isRepaid(status))
          sum.outstandingMinor = addExact(sum.outstandingMinor, Math.max(0, amount - paid));
      }
      return totals;
    },

    savings(id: number): CooperativeTotals['savings'] {
      const sums = new Map(transactions.all(id).map((sum) => [sum.kind, toExactInteger(sum)]));
      return {
        accounts: (accounts.get(id) as { count: number }).count,
        contributionsMinor: sums.get('contribution') ?? 0,
        withdrawalsMinor: sums.get('withdrawal') ?? 0,
      };
    },
  };
}

interface Group {
  deliveries: number;
  readonly members: Set<number>;
  grams: ExactInteger;
}

/** Adds up deliveries by month and product. */
class ProductGroups {
  readonly from: number;
  readonly until: number;
  private readonly months: readonly Month[];
  /** The place of the month of each day since `from`. */
  private readonly monthOfDay: number[] = [];
  private readonly groups: Map<string | null, Group>[];

  constructor(months: readonly Month[]) {
    this.months = months.slice(0, -1);
    this.groups = this.months.map(() => new Map());
    this.from = (months[0] as Month).from;
    this.until = (months.at(-1) as Month).from;
    for (let i = 0; i < this.months.length; i++) {
      const days = ((months[i + 1] as Month).from - (months[i] as Month).from) / DAY_SECONDS;
      for (let day = 0; day < days; day++) this.monthOfDay.push(i);
    }
  }

  add([memberId, at, grams, product]: DeliveryRow): void {
    const month = this.monthOfDay[Math.floor((at - this.from) / DAY_SECONDS)] as number;
    const products = this.groups[month] as Map<string | null, Group>;
    let group = products.get(product);
    if (group === undefined) {
      group = { deliveries: 0, members: new Set(), grams: 0 };
      products.set(product, group);
    }
    group.deliveries++;
    group.members.add(memberId);
    group.grams = addExact(group.grams, grams);
  }

  totals(): ProductTotals[] {
    return inOrder(
      this.months.flatMap(({ month }, i) =>
        [...(this.groups[i] as Map<string | null, Group>)].map(([product, { members, ...sums }]) => ({
          ...{ month, product, ...sums, members: members.size },
        })),
      ),
    );
  }
}
