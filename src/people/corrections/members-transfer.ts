/** Ends a membership and begins one of the same person in another cooperative. */

import { nextIdOf } from '../../journal/change-sets.ts';
import { nameMember } from '../../journal/change-texts.ts';
import type { OperationScope } from '../../journal/command-transaction.ts';
import { recordCreatedRows } from '../../journal/operations.ts';
import {
  DEFAULT_MEMBER_STATUS,
  DEFAULT_ROLE,
  ENDED_MEMBER_STATUSES,
  MEMBER_FIELDS,
} from '../../registry/members.ts';
import { TRANSFER_KIND, type TransferOptions } from '../../registry/stored/transfers.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { DAY_SECONDS, formatDate, type TimeZone } from '../../values/date-time.ts';
import { listFields } from '../../values/declared-fields.ts';
import { asMessage, say, Written } from '../../values/message.ts';
import type { CorrectionRefused } from '../correction-result.ts';
import { noteLaterEntries } from './persons-deceased.ts';
import {
  type AgreedOptions,
  type Correction,
  type Day,
  findCooperative,
  findMember,
  type MemberRow,
  refuse,
} from './run-correction.ts';

const OF_PERSON = listFields(MEMBER_FIELDS)
  .flatMap(({ column, belongsTo }) => (belongsTo === 'person' ? [column] : []))
  .join(', ');

/** `to` is the code of the other cooperative, `memberCode` the code there, and `on` the first day there. */
interface Transfer {
  readonly memberId: number;
  readonly to: string;
  readonly memberCode: string;
  readonly on: Day;
}

/** Afterwards, imports refuse entries of the ended membership that are later than its end. */
export const transferMember = (
  { db, format: { zone } }: OperationScope,
  transfer: Transfer,
  { nowSeconds }: AgreedOptions,
): Correction => ({
  kind: TRANSFER_KIND,
  // The new code is not stored, because some cooperatives use national IDs as codes.
  options: { member: transfer.memberId, to: transfer.to, on: transfer.on.date } satisfies TransferOptions,
  decide() {
    const { memberId, memberCode, on } = transfer;
    const { startsAt } = on;
    const member = findMember(db, memberId);
    if ('outcome' in member) return member;
    const to = findCooperative(db, transfer.to);
    if ('outcome' in to) return to;
    const fault = findFault(db, transfer, member, to.id, zone);
    if (fault !== undefined) return fault;
    return {
      touched: { members: `SELECT ${memberId}` },
      members: [{ id: memberId, fate: 'ends' }],
      notes: noteLaterEntries(db, `${memberId}`, startsAt + DAY_SECONDS, (found) =>
        say('Dated after the change: {found}.', { found }),
      ),
      work(correctionId) {
        const { id } = nextIdOf(db, 'members');
        db.run("UPDATE main.members SET status = 'withdrawn' WHERE id = ?", [memberId]);
        db.run(
          `INSERT INTO main.members (id, cooperative_id, member_code, ${OF_PERSON}, role, status,
             registration_date, created_at, updated_at)
           SELECT @id, @cooperativeId, @memberCode, ${OF_PERSON}, '${DEFAULT_ROLE}',
             '${DEFAULT_MEMBER_STATUS}', @startsAt, @nowSeconds, @nowSeconds
           FROM main.members WHERE id = @memberId`,
          { memberId, memberCode, startsAt, id, cooperativeId: to.id, nowSeconds },
        );
        recordCreatedRows(db, correctionId, 'members', { first: id, last: id });
      },
    };
  },
});

function findFault(
  db: Connection,
  { memberId, to, memberCode, on: { startsAt } }: Transfer,
  { cooperative_id, identity_card, status, registration_date: registeredAt }: MemberRow,
  toId: number,
  zone: TimeZone,
): CorrectionRefused | undefined {
  if (cooperative_id === toId)
    return refuse(say('Member {id} belongs to {code} already.', { id: memberId, code: to }));
  if (ENDED_MEMBER_STATUSES.includes(status))
    return refuse(
      say('The membership of member {id} has ended already: {status}.', {
        id: memberId,
        status: asMessage(status),
      }),
    );
  if (registeredAt >= startsAt + DAY_SECONDS) {
    const { cooperativeCode: cooperative, memberCode: code } = nameMember(db, { id: memberId, fate: 'ends' });
    return refuse(
      say(
        'The day is before the registration of {cooperative}/{code}, on {day}. If that day is wrong, ' +
          'import the members with the right registration_date, or PUT it, first.',
        { cooperative, code, day: new Written('day', formatDate(registeredAt, zone)) },
      ),
    );
  }
  const inCooperative = (column: string, value: string) =>
    db.value<number | undefined>(`SELECT id FROM main.members WHERE cooperative_id = ? AND ${column} = ?`, [
      toId,
      value,
    ]);
  const same = inCooperative('identity_card', identity_card);
  if (same !== undefined)
    return refuse(
      say('The person is member {id} of {code} already: change the status of both instead.', {
        id: same,
        code: to,
      }),
    );
  if (inCooperative('member_code', memberCode) !== undefined)
    return refuse(say('Another member of {code} has this code.', { code: to }));
  return undefined;
}
