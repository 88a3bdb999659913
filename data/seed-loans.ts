// Generates loans for a few members of each active cooperative, with fields consistent with their status.
import { ANCHOR_DAY, addMonths, csvText, formatCents, formatTime, LAST_DAY } from './seed-format.ts';
import type { Member } from './seed-members.ts';
import { createRandom, type Random } from './seed-random.ts';

type LoanStatus = 'pending' | 'approved' | 'rejected' | 'cancelled' | 'paid' | 'defaulted';

interface Schedule {
  readonly approved: number | undefined;
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** 0 to 1 */
  readonly paidShare: number;
}

const STATUSES: readonly (readonly [LoanStatus, number])[] = [
  ['pending', 12],
  ['approved', 40],
  ['rejected', 8],
  ['cancelled', 5],
  ['paid', 28],
  ['defaulted', 7],
];

// Somebody who borrows year after year has paid back most of the loans.
const FREQUENT_STATUSES: readonly (readonly [LoanStatus, number])[] = [
  ['paid', 80],
  ['approved', 12],
  ['rejected', 8],
];

/** Indexes in the list of cooperatives of those in which one member has more than ten loans. */
const FREQUENT_BORROWERS_AT: readonly number[] = [3, 18, 32, 38];

const TERMS: readonly number[] = [6, 9, 12, 18, 24, 30, 36];
const ESTABLISHED_DAYS = 1_095;
const OLDEST_START = ANCHOR_DAY - 2_900;
const NOTHING: Schedule = { approved: undefined, start: undefined, end: undefined, paidShare: 0 };

/** Amounts in RWF at these quantiles, with linear interpolation: half of all loans are below 400,000. */
const AMOUNT_CURVE: readonly (readonly [share: number, amount: number])[] = [
  [0, 50_000],
  [0.1, 100_000],
  [0.25, 200_000],
  [0.5, 400_000],
  [0.75, 800_000],
  [0.9, 1_800_000],
  [0.98, 5_000_000],
  [1, 10_000_000],
];

function drawAmount(random: Random): number {
  const share = random.unit();
  const above = AMOUNT_CURVE.findIndex(([end]) => share < end);
  const [fromShare, from] = AMOUNT_CURVE[above - 1] as readonly [number, number];
  const [toShare, to] = AMOUNT_CURVE[above] as readonly [number, number];
  const amount = from + ((share - fromShare) / (toShare - fromShare)) * (to - from);
  return Math.round(amount / 5_000) * 5_000;
}

/** Approval is always on an earlier day than the start, whatever times of day are drawn. */
function drawRunning(random: Random, member: Member): Schedule {
  const term = random.pick(TERMS);
  const earliest = Math.max(member.joinedDay + 30, ANCHOR_DAY - term * 30);
  const approved = random.int(earliest, LAST_DAY - 25);
  if (member.person.part === 'ordinary' && random.chance(0.1)) return { ...NOTHING, approved };
  const start = approved + random.int(1, 20);
  const end = addMonths(start, term);
  const elapsed = Math.min(1, (ANCHOR_DAY - start) / (end - start));
  return { approved, start, end, paidShare: elapsed * (0.7 + random.unit() * 0.28) };
}

function drawEnded(random: Random, member: Member, paidShare: number): Schedule {
  const term = random.pick(TERMS.filter((months) => months <= 30));
  const start = random.int(Math.max(member.joinedDay + 60, OLDEST_START), addMonths(LAST_DAY, -term));
  return { approved: start - random.int(1, 20), start, end: addMonths(start, term), paidShare };
}

function drawSchedule(random: Random, member: Member, status: LoanStatus): Schedule {
  if (status === 'approved') return drawRunning(random, member);
  if (status === 'paid') return drawEnded(random, member, 1);
  if (status === 'defaulted') return drawEnded(random, member, 0.1 + random.unit() * 0.7);
  return NOTHING;
}

function loanRow(random: Random, member: Member, status: LoanStatus): string[] {
  const amountCents = drawAmount(random) * 100;
  const schedule = drawSchedule(random, member, status);
  const time = (day: number | undefined) =>
    day === undefined ? '' : formatTime(day, random.int(8 * 60, 16 * 60 + 59));
  return [
    formatCents(amountCents),
    String(random.int(36, 48) / 2),
    status,
    formatCents(Math.round(amountCents * schedule.paidShare)),
    time(schedule.start),
    time(schedule.end),
    time(schedule.approved),
  ];
}

function drawStatuses(random: Random, member: Member, frequent: boolean): LoanStatus[] {
  if (member.person.part === 'showcase') return ['paid', 'approved'];
  if (frequent) return Array.from({ length: random.int(11, 14) }, () => random.weighted(FREQUENT_STATUSES));
  if (!random.chance(0.076)) return [];
  return Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, () => random.weighted(STATUSES));
}

/** @param groups the members of each cooperative, one group per cooperative */
export function loansCsv(groups: readonly (readonly Member[])[]): string {
  const random = createRandom('loan book');
  const rows = groups.flatMap((members, index) => {
    const borrowers = members.filter(
      ({ cooperative, status, joinedDay }) =>
        cooperative.status === 'active' && status === 'active' && joinedDay <= ANCHOR_DAY - ESTABLISHED_DAYS,
    );
    const frequent = FREQUENT_BORROWERS_AT.includes(index) ? borrowers[5] : undefined;
    return borrowers
      .flatMap((member) =>
        drawStatuses(random, member, member === frequent).map((status) => ({
          member,
          row: loanRow(random, member, status),
        })),
      )
      .map(({ member, row }, position) => [
        member.cooperative.code,
        member.code,
        `L-${String(position + 1).padStart(4, '0')}`,
        ...row,
      ]);
  });
  const header =
    'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,' +
    'loan_start_date,loan_end_date,approved_at';
  return csvText(header.split(','), rows);
}
