/** Erases a person: what the sums of cooperatives need stays, without a person. It cannot be undone. */
import { counted } from '../../../domain/values/text.ts';
import type { CorrectionRefused } from '../../ports/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_FIELD, ERASED_VALUES } from '../identity/erased-rows.ts';
import { isErasedNumber, openIdentityHash } from '../identity/identity-hash.ts';
import { forgetNumbers } from '../identity/redirects.ts';
import { identifyPerson, keptResponsesSql, listOf, type Person } from '../persons/identify.ts';
import { OWNED_ENTITIES, type OwnedEntity, ownedIdsSql, tableOf } from '../schema/tables.ts';
import { refuseUnknown } from './persons-deceased.ts';
import { type Correction, type CorrectionPlan, refuse } from './run.ts';

export const ERASED_BEFORE = 'This person was erased.';

/** Epoch seconds. */
export interface ErasureTime {
  readonly nowSeconds: number;
  /** When the person was erased before, in a registry that knew more than this one. */
  readonly erasedBefore?: number;
}

export const erasePerson = (db: Connection, identityCard: string, time: ErasureTime): Correction => ({
  kind: 'persons_erase',
  options: {},
  decide: () => planErasure(db, identityCard, time),
});

function planErasure(
  db: Connection,
  identityCard: string,
  time: ErasureTime,
): CorrectionPlan | CorrectionRefused {
  const person = identifyPerson(db, identityCard);
  if (person === undefined)
    return isErasedNumber(db, identityCard) ? refuse(ERASED_BEFORE) : refuseUnknown(db, identityCard);
  const ids = listOf(person.members);
  const assignments = Object.entries(ERASED_VALUES).map(([column, value]) => `${column} = ${value}`);
  return {
    touched: { members: `SELECT id FROM main.members WHERE id IN (${ids})` },
    keepsNoValues: true,
    members: person.members.map((id) => ({ id, fate: 'changes' })),
    notes: noteWhatStays(db, person),
    work(correctionId) {
      rememberNumbers(db, person, time);
      db.exec(`UPDATE main.members SET ${assignments.join(', ')} WHERE id IN (${ids})`);
      clearHistory(db, person);
      const numbers = listOf(person.numbers);
      forgetNumbers(db, numbers);
      db.exec(`DELETE FROM ${keptResponsesSql(person)}`);
      db.raw
        .prepare(
          `INSERT INTO main.changes (entity, row_id, field, at, actor)
           SELECT 'members', id, '${ERASED_FIELD}', ?, ? FROM main.members WHERE id IN (${ids}) ORDER BY id`,
        )
        .run(time.nowSeconds, `correction:${correctionId}`);
    },
  };
}

/** Whoever is erased a second time gets a later time, whatever the clock says: a restore compares them. */
function rememberNumbers(
  db: Connection,
  { numbers }: Person,
  { nowSeconds, erasedBefore }: ErasureTime,
): void {
  const hashOf = openIdentityHash(db);
  const later = erasedBefore === undefined ? 'erased_at + 1' : 'erased_at';
  const insert = db.raw.prepare(
    `INSERT INTO main.erased_persons (identity_hash, erased_at) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET erased_at = max(excluded.erased_at, ${later}), cleared_at = NULL`,
  );
  for (const number of numbers) insert.run(hashOf(number), erasedBefore ?? nowSeconds);
}

/** The rows stay, as imports are checked against them; their values go, wherever a number is among them. */
function clearHistory(db: Connection, { rows, numbers }: Person): void {
  const given = listOf(numbers);
  db.exec(`UPDATE main.changes SET old = NULL, new = NULL
      WHERE entity = 'members' AND row_id IN (${listOf(rows)}) AND (old IS NOT NULL OR new IS NOT NULL);
    UPDATE main.changes SET old = iif(old IN (${given}), NULL, old), new = iif(new IN (${given}), NULL, new)
      WHERE field = 'identity_card' AND (old IN (${given}) OR new IN (${given}))`);
}

/** What stays without a person, and what an operator has to look at. */
function noteWhatStays(db: Connection, { members, numbers }: Person): string[] {
  const ids = listOf(members);
  const count = (entity: OwnedEntity, condition = 'true'): number =>
    db.raw
      .prepare(
        `SELECT count(*) FROM main.${tableOf(entity).table} e
         WHERE e.id IN (${ownedIdsSql(entity, ids)}) AND (${condition})`,
      )
      .pluck()
      .get() as number;
  // Texts of whoever keeps the books.
  const named = OWNED_ENTITIES.reduce((sum, entity) => {
    const { label } = tableOf(entity);
    return sum + count(entity, numbers.map((number) => `instr(e.${label}, '${number}') > 0`).join(' OR '));
  }, 0);
  const owed = count('loans', "e.status IN ('pending', 'approved', 'defaulted')");
  return [
    `These stay without a person: ${counted(count('production'), 'delivery', 'deliveries')}, ` +
      `${counted(count('loans'), 'loan')}, ` +
      `${counted(count('savings'), 'savings transaction')}.`,
    ...(owed === 0 ? [] : [`Loans that are not settled: ${owed}.`]),
    ...(named === 0
      ? []
      : [`References and account numbers that contain the national ID, and stay: ${named}.`]),
    'Backups, rejects files and logs of other programs are not touched.',
  ];
}
