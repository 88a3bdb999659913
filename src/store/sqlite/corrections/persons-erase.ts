/** Erases a person: what the sums of cooperatives need stays, without a person. It cannot be undone. */
import { type Message, say } from '../../../domain/values/message.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_FIELD, ERASED_VALUES } from '../identity/erased-rows.ts';
import { forgetNumbers } from '../identity/former-keys.ts';
import { isErasedNumber, numberOfAnother, openIdentityHash, ownNumber } from '../identity/identity-hash.ts';
import { identifyPerson, keptResponsesSql, listOf, type Person, personOf } from '../persons/identify.ts';
import { OWNED_ENTITIES, type OwnedEntity, ownedIdsSql, tableOf } from '../schema/tables.ts';
import { refuseUnknown } from './persons-deceased.ts';
import { type Correction, type CorrectionPlan, refuse } from './run.ts';

export const ERASED_BEFORE = 'This person was erased.';

export const erasePerson = (db: Connection, identityCard: string, nowSeconds: number): Correction => ({
  kind: 'persons_erase',
  options: {},
  decide() {
    const person = identifyPerson(db, identityCard);
    if (person !== undefined)
      return planErasure(db, person, nowSeconds, () => rememberNumbers(db, person, nowSeconds));
    return isErasedNumber(db, identityCard) ? refuse(ERASED_BEFORE) : refuseUnknown(db, identityCard);
  },
});

/** Erases memberships of somebody who was erased before; what is remembered stays as it is. */
export const eraseMembers = (
  db: Connection,
  identityCard: string,
  members: readonly number[],
  nowSeconds: number,
): Correction => ({
  kind: 'persons_erase',
  options: {},
  decide: () => planErasure(db, personOf(db, identityCard, members), nowSeconds, () => undefined),
});

function planErasure(
  db: Connection,
  person: Person,
  nowSeconds: number,
  remember: () => void,
): CorrectionPlan {
  const ids = listOf(person.members);
  const assignments = Object.entries(ERASED_VALUES).map(([column, value]) => `${column} = ${value}`);
  return {
    touched: { members: `SELECT id FROM main.members WHERE id IN (${ids})` },
    keepsNoValues: true,
    members: person.members.map((id) => ({ id, fate: 'changes' })),
    notes: noteWhatStays(db, person),
    work(correctionId) {
      remember();
      db.exec(`UPDATE main.members SET ${assignments.join(', ')} WHERE id IN (${ids})`);
      clearHistory(db, person);
      const numbers = listOf(person.numbers);
      forgetNumbers(db, numbers);
      db.exec(`DELETE FROM ${keptResponsesSql(person)}`);
      db.run(
        `INSERT INTO main.changes (entity, row_id, field, at, actor)
         SELECT 'members', id, '${ERASED_FIELD}', ?, ? FROM main.members WHERE id IN (${ids}) ORDER BY id`,
        [nowSeconds, `correction:${correctionId}`],
      );
    },
  };
}

/** Whoever is erased a second time gets a later time, whatever the clock says: a restore compares them. */
function rememberNumbers(db: Connection, person: Person, nowSeconds: number): void {
  const hashOf = openIdentityHash(db);
  const insert = db.raw.prepare(
    `INSERT INTO main.erased_persons (identity_hash, erased_at) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET erased_at = max(excluded.erased_at, erased_at + 1), cleared_at = NULL`,
  );
  const { rows, numbers, mistaken } = person;
  const texts = [
    ...numbers,
    ...mistaken.flatMap((number) => rows.map((id) => ownNumber(id, number))),
    ...numbers.flatMap((number) => othersWith(db, number, rows).map((id) => numberOfAnother(id, number))),
  ];
  for (const text of texts) insert.run(hashOf(text), nowSeconds);
}

/** The members who had the number by mistake. */
const othersWith = (db: Connection, number: string, rows: readonly number[]): number[] =>
  db.values<number>(
    `SELECT DISTINCT row_id FROM main.changes WHERE entity = 'members' AND field = 'identity_card'
       AND @number IN (old, new) AND row_id NOT IN (${listOf(rows)})`,
    { number },
  );

/** The rows stay, as imports are checked against them; their values go, wherever a number is among them. */
function clearHistory(db: Connection, { rows, numbers }: Person): void {
  const given = listOf(numbers);
  db.exec(`UPDATE main.changes SET old = NULL, new = NULL
      WHERE entity = 'members' AND row_id IN (${listOf(rows)}) AND (old IS NOT NULL OR new IS NOT NULL);
    UPDATE main.changes SET old = iif(old IN (${given}), NULL, old), new = iif(new IN (${given}), NULL, new)
      WHERE field = 'identity_card' AND (old IN (${given}) OR new IN (${given}))`);
}

/** What stays without a person, and what an operator has to look at. */
function noteWhatStays(db: Connection, { members, numbers }: Person): Message[] {
  const ids = listOf(members);
  const count = (entity: OwnedEntity, condition = 'true'): number =>
    db.count(`main.${tableOf(entity).table} e
       WHERE e.id IN (${ownedIdsSql(entity, ids)}) AND (${condition})`);
  // Texts of whoever keeps the books.
  const named = OWNED_ENTITIES.reduce((sum, entity) => {
    const { label } = tableOf(entity);
    return sum + count(entity, numbers.map((number) => `instr(e.${label}, '${number}') > 0`).join(' OR '));
  }, 0);
  const owed = count('loans', "e.status IN ('pending', 'approved', 'defaulted')");
  return [
    say(
      'Removed for good, with their history: national ID, member code, names, gender, dates of birth and ' +
        'death, phone, role.',
      {},
    ),
    say('These stay without a person: {deliveries}, {loans}, {savings}.', {
      deliveries: say('{n|# delivery|# deliveries}', { n: count('production') }),
      loans: say('{n|# loan|# loans}', { n: count('loans') }),
      savings: say('{n|# savings transaction|# savings transactions}', { n: count('savings') }),
    }),
    ...(owed === 0 ? [] : [say('Loans that are not settled: {n}.', { n: owed })]),
    ...(named === 0
      ? []
      : [say('References and account numbers that contain the national ID, and stay: {n}.', { n: named })]),
    say('Backups, rejects files and logs of other programs are not touched.'),
  ];
}
