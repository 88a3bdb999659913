// Generates savings accounts with their contributions, and a few withdrawals that the balance covers.
import { ANCHOR_DAY, csvText, formatCents, formatTime, LAST_DAY } from './seed-format.ts';
import type { Member } from './seed-members.ts';
import { createRandom, type Random } from './seed-random.ts';

interface Transaction {
  readonly member: Member;
  readonly account: string;
  readonly kind: 'contribution' | 'withdrawal';
  readonly cents: number;
  readonly day: number;
  readonly minute: number;
}

const OLDEST_DAY = ANCHOR_DAY - 1_000;

function drawContribution(random: Random): number {
  const cents = random.int(4, 22) * 50_000;
  return random.chance(0.04) ? cents + random.int(1, 49_999) : cents;
}

/** The transactions of one account on distinct days, in order; withdrawals never exceed the balance. */
function drawAccount(random: Random, member: Member, account: string): Transaction[] {
  const days = random.distinct(random.int(5, 9), Math.max(member.joinedDay, OLDEST_DAY) + 1, LAST_DAY);
  let balance = 0;
  return days.map((day, index) => {
    const withdraws = index >= 3 && random.chance(0.09);
    const cents = withdraws
      ? Math.floor((balance * random.int(10, 60)) / 10_000) * 100
      : drawContribution(random);
    balance += withdraws ? -cents : cents;
    const kind = withdraws ? 'withdrawal' : 'contribution';
    return { member, account, kind, cents, day, minute: random.int(8 * 60, 16 * 60 + 59) };
  });
}

function drawSavings(random: Random, member: Member): Transaction[] {
  const { cooperative, person, status, joinedDay } = member;
  if (cooperative.status !== 'active' || status === 'deceased' || joinedDay > LAST_DAY - 30) return [];
  const share = cooperative.sector === 'savings_credit' ? 0.95 : 0.58;
  if (person.part !== 'showcase' && !random.chance(share)) return [];
  const accounts = person.part !== 'showcase' && random.chance(0.03) ? [1, 2] : [1];
  const number = member.code.slice(-5);
  return accounts.flatMap((sequence) => drawAccount(random, member, `SAV-${number}-${sequence}`));
}

function byTime(left: Transaction, right: Transaction): number {
  return left.day - right.day || left.minute - right.minute || (left.account < right.account ? -1 : 1);
}

/** @param groups the members of each cooperative, one group per cooperative */
export function savingsCsv(groups: readonly (readonly Member[])[]): string {
  const random = createRandom('savings');
  const rows = groups.flatMap((members) =>
    members
      .flatMap((member) => drawSavings(random, member))
      .sort(byTime)
      .map((transaction, index) => [
        transaction.member.cooperative.code,
        transaction.member.code,
        transaction.account,
        `S-${String(index + 1).padStart(5, '0')}`,
        transaction.kind,
        formatCents(transaction.cents),
        formatTime(transaction.day, transaction.minute),
      ]),
  );
  const header = 'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at';
  return csvText(header.split(','), rows);
}
