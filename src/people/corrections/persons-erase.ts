/** Erases a person. The entries stay for totals, without personal data. An erasure cannot be undone. */

import type { OperationScope } from '../../journal/command-transaction.ts';
import { OWNED_ENTITIES, type OwnedEntity, ownedIdsSql, tableOf } from '../../registry/changes/tables.ts';
import { MEMBER_FIELDS, type MemberField } from '../../registry/members.ts';
import {
  ERASED_FIELD,
  isErasedNumber,
  keepErasures,
  numberOfAnother,
  openIdentityHash,
  ownNumber,
} from '../../registry/stored/erasures.ts';
import { forgetNumbers } from '../../registry/stored/former-ids.ts';
import {
  identifyPerson,
  keptResponsesSql,
  listOf,
  type Person,
  personOf,
} from '../../registry/stored/identify.ts';
import { rebuildNames } from '../../registry/stores/name-index.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS } from '../../sqlite/counts.ts';
import { isBusy, isDiskFull } from '../../sqlite/sqlite-errors.ts';
import { truncateLog } from '../../sqlite/write-ahead-log.ts';
import { listFields, type NamedField } from '../../values/declared-fields.ts';
import { asMessage, type Message, say, type Text } from '../../values/message.ts';
import type { CorrectionRefused } from '../correction-result.ts';
import { refuseUnknown } from './persons-deceased.ts';
import { type AgreedOptions, type Correction, type CorrectionPlan, refuse } from './run-correction.ts';

type Replaced = {
  [property in keyof typeof MEMBER_FIELDS]: (typeof MEMBER_FIELDS)[property]['erasure'] extends 'replace'
    ? property
    : never;
}[keyof typeof MEMBER_FIELDS];

/** SQL of the new values. No client can enter a number with a letter, or a code with two spaces. */
const REPLACEMENTS: { readonly [property in Replaced]: string } = {
  identityCard: "'e' || printf('%015d', id)",
  memberCode: "'erased  ' || id",
  status: `'${ERASED_STATUS}'`,
};

/** @returns SQL; undefined for a field that does not change */
function erasedValue({ property, erasure }: NamedField<MemberField>): string | undefined {
  if (erasure === 'keep') return undefined;
  if (erasure === 'clear') return 'NULL';
  return erasure === 'replace' ? REPLACEMENTS[property as Replaced] : `'${erasure.becomes}'`;
}

/** SQL of the values of an erased member, by column. Columns not listed keep their values, for the totals. */
export const ERASED_VALUES: { readonly [column: string]: string } = Object.fromEntries(
  listFields<MemberField>(MEMBER_FIELDS).flatMap((field) => {
    const value = erasedValue(field);
    return value === undefined ? [] : [[field.column, value]];
  }),
);

const ERASED_BEFORE = 'This person was erased.';

/**
 * Removes all data that identifies a person: from every membership, from the history, and from the
 * write-ahead log and the free space of the file. Stores hashes of the numbers, so that imports do not add
 * the person again.
 */
export function erasePerson(
  { db, waitMs }: OperationScope,
  { nid }: { readonly nid: string },
  { nowSeconds, isDryRun }: AgreedOptions,
): Correction {
  const isRepetition = isUncleared(db);
  return {
    kind: 'persons_erase',
    options: {},
    decide() {
      const person = identifyPerson(db, nid);
      if (person !== undefined)
        return planErasure(db, person, nowSeconds, () => rememberNumbers(db, person, nowSeconds));
      return isErasedNumber(db, nid) ? refuse(ERASED_BEFORE) : refuseUnknown(db, nid);
    },
    complete(result) {
      if (result.outcome === 'refused') {
        if (result.message !== ERASED_BEFORE) return result;
        if (isDryRun !== true) keepErasures(db, db.raw.name);
        return isRepetition ? refuseAgain(db, nowSeconds, waitMs, isDryRun === true) : result;
      }
      if (result.correctionId === null) return { ...result, isFinal: true };
      try {
        keepErasures(db, db.raw.name);
        const uncleared = clearFreeSpace(db, nowSeconds, waitMs);
        const notes = uncleared === undefined ? [] : [UNCLEARED[uncleared]];
        return { ...result, isFinal: true, notes: [...result.notes, ...notes] };
      } catch (error) {
        return { ...result, isFinal: true, errorAfterCommit: result.errorAfterCommit ?? error };
      }
    },
  };
}

/** Refuses a repeated erasure. Unless this is a dry run, first clears values that earlier erasures left. */
function refuseAgain(
  db: Connection,
  nowSeconds: number,
  waitMs: number,
  isDryRun: boolean,
): CorrectionRefused {
  const uncleared = isDryRun ? undefined : clearFreeSpace(db, nowSeconds, waitMs);
  const left = isDryRun
    ? say(
        'The log or free space of the database may still hold values: run the command again without ' +
          '--dry-run.',
        {},
      )
    : uncleared === undefined
      ? say('The log and free space of the database no longer hold values of erased persons.')
      : asMessage(UNCLEARED[uncleared]);
  return refuse(say('{erased} {left}', { erased: asMessage(ERASED_BEFORE), left }));
}

/** Erases memberships of a person whose numbers are already recorded as erased. */
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
      forgetNumbers(db, listOf(person.numbers));
      db.exec(`DELETE FROM ${keptResponsesSql(person)}`);
      db.run(
        `INSERT INTO main.changes (entity, row_id, field, at, actor)
         SELECT 'members', id, '${ERASED_FIELD}', ?, ? FROM main.members WHERE id IN (${ids}) ORDER BY id`,
        [nowSeconds, `correction:${correctionId}`],
      );
    },
  };
}

/**
 * Stores hashes of a person's numbers. A number that was erased before gets a later time: if the backup has
 * the number too, a restore repeats the erasure only if its time is later than in the backup.
 */
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

/** Returns the ids of members outside `rows` who once had the number by mistake. */
const othersWith = (db: Connection, number: string, rows: readonly number[]): number[] =>
  db.values<number>(
    `SELECT DISTINCT row_id FROM main.changes WHERE entity = 'members' AND field = 'identity_card'
       AND @number IN (old, new) AND row_id NOT IN (${listOf(rows)})`,
    { number },
  );

/**
 * Clears the values in the history of the person, and the person's numbers in the history of other members.
 * The rows of the history stay, because `check` compares imports with these rows.
 */
function clearHistory(db: Connection, { rows, numbers }: Person): void {
  const list = listOf(numbers);
  db.exec(`UPDATE main.changes SET old = NULL, new = NULL
      WHERE entity = 'members' AND row_id IN (${listOf(rows)}) AND (old IS NOT NULL OR new IS NOT NULL);
    UPDATE main.changes SET old = iif(old IN (${list}), NULL, old), new = iif(new IN (${list}), NULL, new)
      WHERE field = 'identity_card' AND (old IN (${list}) OR new IN (${list}))`);
}

function noteWhatStays(db: Connection, { members, numbers }: Person): Message[] {
  const ids = listOf(members);
  const count = (entity: OwnedEntity, condition = 'true'): number =>
    db.count(`main.${tableOf(entity).table} e
       WHERE e.id IN (${ownedIdsSql(entity, ids)}) AND (${condition})`);
  // References and account numbers are entered by bookkeepers, and may contain a national ID.
  const labelled = OWNED_ENTITIES.reduce((sum, entity) => {
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
    ...(labelled === 0
      ? []
      : [
          say('References and account numbers that contain the national ID, and stay: {n}.', { n: labelled }),
        ]),
    say('Backups, rejects files and logs of other programs are not touched.'),
  ];
}

// Copies of erased values in the free space of the file and in the write-ahead log

type Uncleared = 'readers' | 'writers' | 'disk';

const UNCLEARED: { readonly [reason in Uncleared]: Text } = {
  readers: say(
    'Another process reads the registry, so the log or free space of the database may still hold the ' +
      'values: restart the service, then run the command again.',
    {},
  ),
  writers: say(
    'Another process writes to the registry, so the log or free space of the database may still hold the ' +
      'values: run the command again.',
    {},
  ),
  disk: say(
    'The disk is full, so the log or free space of the database may still hold the values: make as much ' +
      'room as the database takes, then run the command again.',
    {},
  ),
};

/** True if copies of erased values may remain, for example because an earlier command was killed. */
export const isUncleared = (db: Connection): boolean =>
  db.has('main.erased_persons WHERE cleared_at IS NULL');

/**
 * Truncates the write-ahead log and rewrites the file. `secure_delete` alone is not enough: it does not clear
 * content that SQLite has moved to another page.
 * @param waitMs time to wait for readers and writers
 * @returns the reason why values may remain; undefined if no values remain
 * @throws errors other than a busy lock or a full disk
 */
export function clearFreeSpace(db: Connection, nowSeconds: number, waitMs: number): Uncleared | undefined {
  try {
    db.setLockTimeout(waitMs);
    if (!truncateLog(db)) return 'readers';
    rebuildNames(db);
    db.exec('VACUUM main');
    if (!truncateLog(db)) return 'readers';
    db.run('UPDATE main.erased_persons SET cleared_at = ? WHERE cleared_at IS NULL', [nowSeconds]);
    truncateLog(db);
    return undefined;
  } catch (error) {
    if (isBusy(error)) return 'writers';
    if (isDiskFull(error)) return 'disk';
    throw error;
  }
}
