/** Records the death of a person in every membership. */

import type { OperationScope } from '../../journal/command-transaction.ts';
import { REPLACED_NUMBERS, redirectOf } from '../../registry/stored/former-ids.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { type Message, say } from '../../values/message.ts';
import type { CorrectionRefused } from '../correction-result.ts';
import { type Correction, type Day, refuse } from './run-correction.ts';

interface Holder {
  readonly id: number;
  readonly date_of_birth: string | null;
  readonly isRecorded: 0 | 1;
}

export const recordDeath = (
  { db }: OperationScope,
  { nid, on: { date } }: { readonly nid: string; readonly on: Day },
): Correction => ({
  kind: 'persons_deceased',
  options: { on: date },
  decide() {
    const holders = db.rows<Holder>(
      `SELECT id, date_of_birth, status = 'deceased' AND date_of_death IS ? AS isRecorded
       FROM main.members WHERE identity_card = ? ORDER BY id`,
      [date, nid],
    );
    if (holders.length === 0) return refuseUnknown(db, nid);
    if (holders.some(({ date_of_birth: birth }) => birth !== null && birth > date))
      return refuse("The date is before the person's date of birth.");
    if (holders.every(({ isRecorded }) => isRecorded === 1)) return refuse('This is recorded already.');
    const ids = holders.map(({ id }) => id).join(', ');
    return {
      touched: { members: `SELECT id FROM main.members WHERE id IN (${ids})` },
      members: holders.flatMap(({ id, isRecorded }) => (isRecorded === 1 ? [] : [{ id, fate: 'changes' }])),
      notes: noteLaterEntries(db, ids, Date.parse(date) / 1000 + ENDED_EVERYWHERE, (found) =>
        say('Dated after the death: {found}.', { found }),
      ),
      work() {
        db.run(`UPDATE main.members SET status = 'deceased', date_of_death = ? WHERE id IN (${ids})`, [date]);
      },
    };
  },
});

export const refuseUnknown = (db: Connection, identityCard: string): CorrectionRefused =>
  redirectOf(db, REPLACED_NUMBERS, identityCard) === undefined
    ? refuse('No person has this national ID.')
    : refuse('This national ID was replaced before. Name the current one of the person.');

/** Seconds from the start of a day in UTC to the end of the day in the last time zone on earth. */
const ENDED_EVERYWHERE = 36 * 3600;

/**
 * Returns a note about entries after a death or transfer: a date may be wrong, or another person delivered.
 * @param ids SQL list of member ids
 * @param from first instant after the death or transfer, in epoch seconds
 */
export function noteLaterEntries(
  db: Connection,
  ids: string,
  from: number,
  dated: (found: Message) => Message,
): Message[] {
  const count = (rows: string): number => db.count(rows, { from });
  const deliveries = count(
    `main.production_entries e WHERE e.member_id IN (${ids}) AND e.delivered_at >= @from`,
  );
  const savings = count(`main.savings_accounts a CROSS JOIN main.savings_transactions e
    ON e.account_id = a.id WHERE a.member_id IN (${ids}) AND e.transacted_at >= @from`);
  const [one, other] = [
    ...(deliveries === 0 ? [] : [say('{n|# delivery|# deliveries}', { n: deliveries })]),
    ...(savings === 0 ? [] : [say('{n|# savings transaction|# savings transactions}', { n: savings })]),
  ];
  if (one === undefined) return [];
  return [dated(other === undefined ? one : say('{one} and {other}', { one, other }))];
}
