/** The store of corrections, on a connection of its own. */

import {
  type OperationOptions,
  type OperationScope,
  openOperationScope,
  operationOptionsOf,
} from '../../journal/command-transaction.ts';
import type { CorrectionOptions } from '../../registry/changes/correction-kinds.ts';
import { nameMember } from '../../registry/changes/labels.ts';
import { memberSql, tableOf } from '../../registry/changes/tables.ts';
import type { EntryKind, EntrySelection } from '../../registry/entries.ts';
import { keepErasures } from '../../registry/stored/erasures.ts';
import { readEntryIds } from '../../registry/stored/identify.ts';
import type { Connection } from '../../sqlite/connection.ts';
import type { Storage } from '../../sqlite/storage.ts';
import { formatDate, type TimeZone } from '../../values/date-time.ts';
import { formatDecimal, MONEY, WEIGHT } from '../../values/decimal.ts';
import { FieldErrorList } from '../../values/errors.ts';
import { IDENTITY_CARD_ERROR, isIdentityCard } from '../../values/identity-card.ts';
import { asMessage, type Message, say, type Text, Written } from '../../values/message.ts';
import type { Collision, CorrectionRefused, CorrectionResult, CorrectionStore } from '../correction-types.ts';
import {
  ACCEPTANCE_KIND,
  type AcceptanceOptions,
  contradictionsWithin,
  openAccepted,
  openMemberships,
} from '../find-contradictions.ts';
import { DISMISSAL_KIND, type DismissalOptions, personPair, readDismissed } from '../find-duplicates.ts';
import { findCooperative, findMember, mergeMembers, moveMember } from './members-merge.ts';
import { transferMember } from './members-transfer.ts';
import { type MemberPair, mergePairs, notePairs, stagePairs, TOUCHED_BY_MERGE } from './merge-pairs.ts';
import { findCollisions, moveMembers, stageMoving, TOUCHED_BY_MOVE } from './move.ts';
import { releaseNumber, replaceNumber } from './nid-replace.ts';
import { recordDeath, refuseUnknown } from './persons-deceased.ts';
import { clearFreeSpace, ERASED_BEFORE, erasePerson, isUncleared, type Uncleared } from './persons-erase.ts';
import { type Correction, type CorrectionPlan, refuse, runCorrection } from './run-correction.ts';

// Removal of deliveries, savings transactions or loans

/** Columns for the totals of removed entries: amount, kind and date. */
const SUMS = {
  production: { of: 'grams', digits: WEIGHT.fractionDigits, kind: "'weight'", at: 'delivered_at' },
  savings: { of: 'amount_minor', digits: MONEY.fractionDigits, kind: 'e.kind', at: 'transacted_at' },
  loans: { of: 'amount_minor', digits: MONEY.fractionDigits, kind: "'loan'", at: 'loan_start_date' },
} as const;

const AMOUNTS: { readonly [kind: string]: (sum: Written) => Message } = {
  weight: (sum) => say('{sum} kg', { sum }),
  loan: (sum) => say('{sum} Frw', { sum }),
  contribution: (sum) => say('{sum} Frw of contributions', { sum }),
  withdrawal: (sum) => say('{sum} Frw of withdrawals', { sum }),
};

/** @param zone for the days in notes */
export const removeEntries = (
  db: Connection,
  kind: EntryKind,
  selection: EntrySelection,
  zone: TimeZone,
): Correction => ({
  kind: 'entries_remove',
  // The reference is left out: some cooperatives use national IDs in theirs.
  options: { kind, ...('memberId' in selection ? { member_id: selection.memberId } : {}) },
  decide: () => planRemoval(db, kind, readEntryIds(db, kind, selection), zone),
});

function planRemoval(
  db: Connection,
  kind: EntryKind,
  ids: readonly number[],
  zone: TimeZone,
): CorrectionPlan | CorrectionRefused {
  if (ids.length === 0) return refuse('There is no such entry.');
  // Dropped by `work`, or rolled back with the transaction.
  db.exec('CREATE TEMP TABLE removed_entries (id INTEGER PRIMARY KEY)');
  const insert = db.raw.prepare('INSERT INTO temp.removed_entries VALUES (?)');
  for (const id of ids) insert.run(id);
  const payments = kind === 'loans' ? findPayments(db) : [];
  if (payments.length > 0) return refuse('A loan with payments cannot be removed.', payments);
  return {
    touched: { [kind]: 'SELECT id FROM temp.removed_entries' },
    members: db
      .values<number>(`SELECT DISTINCT ${memberSql(kind, 'e')} FROM ${going(kind)} ORDER BY 1`)
      .map((id) => ({ id, fate: 'stays' })),
    notes: noteSums(db, kind, zone),
    work() {
      db.exec(`DELETE FROM main.${tableOf(kind).table} WHERE id IN (SELECT id FROM temp.removed_entries);
        DROP TABLE temp.removed_entries`);
    },
  };
}

const going = (kind: EntryKind): string =>
  `temp.removed_entries r CROSS JOIN main.${tableOf(kind).table} e ON e.id = r.id`;

/** Notes with the total and the first and last day, so that an operator notices a wrong selection. */
function noteSums(db: Connection, kind: EntryKind, { offsetSeconds }: TimeZone): Message[] {
  const { of, digits, kind: sort, at } = SUMS[kind];
  const day = (edge: 'min' | 'max') => `date(${edge}(e.${at}) + ${offsetSeconds}, 'unixepoch')`;
  return db
    .rows<{ sort: string; total: number; first: string | null; last: string | null }>(
      `SELECT ${sort} AS sort, sum(e.${of}) AS total, ${day('min')} AS first, ${day('max')} AS last
       FROM ${going(kind)} GROUP BY 1 ORDER BY 1`,
    )
    .map(({ sort, total, first, last }) => {
      const sum = (AMOUNTS[sort] as (sum: Written) => Message)(
        new Written('amount', formatDecimal(total, digits)),
      );
      if (first === null || last === null) return say('Total: {sum}.', { sum });
      const [from, to] = [new Written('day', first), new Written('day', last)];
      return first === last
        ? say('Total: {sum}, on {day}.', { sum, day: from })
        : say('Total: {sum}, from {first} to {last}.', { sum, first: from, last: to });
    });
}

const findPayments = (db: Connection): Collision[] =>
  db
    .rows<{ row: string; loan: string }>(
      `SELECT p.reference AS row, l.reference AS loan FROM temp.removed_entries r
       CROSS JOIN main.loans l ON l.id = r.id CROSS JOIN main.payments p ON p.loan_id = l.id ORDER BY p.id`,
    )
    .map(({ row, loan }) => ({
      entity: 'payments',
      row,
      message: say('It belongs to the loan {loan}.', { loan }),
    }));

// Erasure of a person from the rows, and from the log and free space of the file

const LEFT: { readonly [reason in Uncleared]: Text } = {
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

/** @throws RegistryError as every correction */
function eraseCompletely(
  scope: OperationScope,
  identityCard: string,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const mayBeRepeated = isUncleared(db);
  const result = runCorrection(scope, erasePerson(db, identityCard, options.nowSeconds), options);
  if (result.outcome === 'refused') {
    if (result.message !== ERASED_BEFORE) return result;
    if (options.isDryRun !== true) keepErasures(db, db.raw.name);
    return mayBeRepeated ? clearAgain(scope, options) : result;
  }
  if (result.correctionId === null) return { ...result, isFinal: true };
  try {
    keepErasures(db, db.raw.name);
    const uncleared = clearFreeSpace(db, options.nowSeconds, scope.waitMs);
    const notes = uncleared === undefined ? [] : [LEFT[uncleared]];
    return { ...result, isFinal: true, notes: [...result.notes, ...notes] };
  } catch (errorAfterCommit) {
    return { errorAfterCommit, ...result, isFinal: true };
  }
}

/** Handles a repeated command after an earlier one was killed or could not clear everything. */
function clearAgain(
  { db, waitMs }: OperationScope,
  { isDryRun, nowSeconds }: CorrectionOptions,
): CorrectionRefused {
  const refused = (left: Text): CorrectionRefused =>
    refuse(say('{erased} {left}', { erased: asMessage(ERASED_BEFORE), left: asMessage(left) }));
  if (isDryRun === true)
    return refused(
      say('The log or free space of the database may still hold values: repeat it without --dry-run.'),
    );
  const uncleared = clearFreeSpace(db, nowSeconds, waitMs);
  if (uncleared !== undefined) return refused(LEFT[uncleared]);
  return refused(say('The log and free space of the database hold nothing of them any more.'));
}

// Merge of a cooperative into another: all its members move, and persons in both are merged

export const mergeCooperatives = (db: Connection, fromCode: string, intoCode: string): Correction => ({
  kind: 'cooperatives_merge',
  options: { from: fromCode, into: intoCode },
  decide() {
    if (fromCode === intoCode) return refuse('A cooperative cannot be merged into itself.');
    const [from, into] = [findCooperative(db, fromCode), findCooperative(db, intoCode)];
    if ('outcome' in from) return from;
    if ('outcome' in into) return into;
    const pairs = db.rows<MemberPair>(
      `SELECT f.id AS "from", i.id AS "into" FROM main.members f
       CROSS JOIN main.members i ON i.identity_card = f.identity_card AND i.cooperative_id = ?
       WHERE f.cooperative_id = ?`,
      [into.id, from.id],
    );
    stagePairs(db, pairs);
    const members = db.raw.prepare('SELECT id FROM main.members WHERE cooperative_id = ?').pluck();
    stageMoving(db, members.all(from.id) as number[]);
    const collisions = findCollisions(db, into.id);
    if (collisions.length > 0)
      return refuse(say('Some rows cannot be in {code}.', { code: intoCode }), collisions);
    return {
      touched: {
        ...TOUCHED_BY_MOVE,
        cooperatives: `SELECT ${from.id}`,
        members: `${TOUCHED_BY_MOVE.members} UNION ${TOUCHED_BY_MERGE.members}`,
      },
      notes: [...(pairs.length === 0 ? [] : [bothNote(pairs.length)]), ...notePairs(db)],
      work(correctionId) {
        moveMembers(db, into.id);
        mergePairs(db, correctionId);
        db.run("UPDATE main.cooperatives SET status = 'dissolved' WHERE id = ?", [from.id]);
      },
    };
  },
});

const bothNote = (n: number): Message =>
  say(
    '{n|# person is a member of both: the two|# people are members of both: their} memberships are merged.',
    { n },
  );

// Acceptance of contradictory memberships as those of one person; no row changes

export function acceptContradictions(
  scope: OperationScope,
  identityCard: string,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const ids = db.values<number>('SELECT id FROM main.members WHERE identity_card = ? ORDER BY id', [
    identityCard,
  ]);
  if (ids.length === 0) return refuseUnknown(db, identityCard);
  const memberships = openMemberships(db)(ids);
  if (contradictionsWithin(memberships).length === 0)
    return refuse('The memberships of this person do not contradict each other.');
  const members = ids.map((id) => ({ id, fate: 'stays' as const }));
  const acceptedBy = openAccepted(db)(ids);
  if (acceptedBy !== undefined)
    return {
      outcome: 'done',
      correctionId: acceptedBy,
      rows: {},
      members: members.map((member) => nameMember(db, member)),
      lockMs: 0,
      notes: [say('The person was checked before, by correction {id}.', { id: acceptedBy })],
      isRepeated: true,
    };
  const plan: CorrectionPlan = { touched: {}, members, seen: memberships, work: () => undefined };
  const kept: AcceptanceOptions = { members: ids };
  return runCorrection(scope, { kind: ACCEPTANCE_KIND, options: kept, decide: () => plan }, options);
}

// Dismissal of a pair as two people; no row changes

export function dismissDuplicate(
  scope: OperationScope,
  ids: DismissalOptions,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const [one, other] = [findMember(db, ids.one), findMember(db, ids.other)];
  if ('outcome' in one) return one;
  if ('outcome' in other) return other;
  if (one.identity_card === other.identity_card)
    return refuse('Both have one national ID, and so are one person.');
  const members = [ids.one, ids.other].map((id) => ({ id, fate: 'stays' as const }));
  const dismissedBy = readDismissed(db).get(personPair(one.identity_card, other.identity_card));
  if (dismissedBy !== undefined) {
    const named = members.map((member) => nameMember(db, member));
    return {
      outcome: 'done',
      correctionId: dismissedBy,
      rows: {},
      members: named,
      lockMs: 0,
      notes: [say('The pair was set aside before, by correction {id}.', { id: dismissedBy })],
      isRepeated: true,
    };
  }
  const plan: CorrectionPlan = { touched: {}, members, work: () => undefined };
  return runCorrection(scope, { kind: DISMISSAL_KIND, options: ids, decide: () => plan }, options);
}

/** @throws StorageError `unusable` if there is no registry */
export function openCorrectionsAt(databaseFile: string, options: OperationOptions): CorrectionStore {
  const scope = openOperationScope(databaseFile, options);
  const { db } = scope;
  return {
    replaceIdentityCard(old, current, options) {
      assertNumbers({ old, new: current });
      const year = Number(formatDate(options.nowSeconds, scope.format.zone).slice(0, 4));
      return runCorrection(scope, replaceNumber(db, { ...options, old, current, year }), options);
    },
    recordDeath(identityCard, date, options) {
      assertNumbers({ identity_card: identityCard });
      return runCorrection(scope, recordDeath(db, identityCard, date), options);
    },
    erasePerson(identityCard, options) {
      assertNumbers({ identity_card: identityCard });
      return eraseCompletely(scope, identityCard, options);
    },
    removeEntries: (kind, selection, options) =>
      runCorrection(scope, removeEntries(db, kind, selection, scope.format.zone), options),
    releaseIdentityCard(former, options) {
      assertNumbers({ former });
      return runCorrection(scope, releaseNumber(db, former), options);
    },
    mergeMembers: (fromId, intoId, options) =>
      runCorrection(scope, mergeMembers(db, fromId, intoId), options),
    dismissDuplicate: (one, other, options) => dismissDuplicate(scope, { one, other }, options),
    acceptContradictions(identityCard, options) {
      assertNumbers({ identity_card: identityCard });
      return acceptContradictions(scope, identityCard, options);
    },
    transferMember: (transfer, options) =>
      runCorrection(scope, transferMember(db, transfer, options.nowSeconds, scope.format.zone), options),
    moveMember: (memberId, code, options) => runCorrection(scope, moveMember(db, memberId, code), options),
    mergeCooperatives: (fromCode, intoCode, options) =>
      runCorrection(scope, mergeCooperatives(db, fromCode, intoCode), options),
    close: () => db.close(),
  };
}

/** @throws RegistryError `invalid`, by the names of malformed numbers */
function assertNumbers(numbers: { readonly [name: string]: string }): void {
  const faults = new FieldErrorList();
  for (const [name, number] of Object.entries(numbers))
    if (!isIdentityCard(number)) faults.add(name, IDENTITY_CARD_ERROR.message);
  faults.throwIfAny();
}

/** @throws StorageError `unusable` if there is no registry */
export const openCorrections = (storage: Storage): CorrectionStore =>
  openCorrectionsAt(storage.readable(), operationOptionsOf(storage));
