/** Runs a correction in a transaction, records it as an operation, and completes it after the commit. */

import { type Touched, track } from '../../journal/change-sets.ts';
import { nameMember } from '../../journal/change-texts.ts';
import { type OperationScope, type Outcome, perform } from '../../journal/command-transaction.ts';
import {
  type AffectedMember,
  beginOperation,
  type CorrectionKind,
  type CorrectionOptions,
  createdRows,
  endOperation,
} from '../../journal/operations.ts';
import type { MemberStatus } from '../../registry/members.ts';
import { isErased } from '../../registry/stored/erasures.ts';
import { MERGED_MEMBERS, redirectOf } from '../../registry/stored/former-ids.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { FieldError } from '../../values/errors.ts';
import { mayContainIdentityCard } from '../../values/identity-card.ts';
import { type Message, say, type Text } from '../../values/message.ts';
import { parseText } from '../../values/text.ts';
import type {
  Collision,
  ComparedPeople,
  CorrectionDone,
  CorrectionRefused,
  CorrectionResult,
} from '../correction-result.ts';

export interface Correction {
  readonly kind: CorrectionKind;
  /** Values that are stored as JSON. `imports show` prints them, so they must not be personal data. */
  readonly options: object;
  /** Called inside the transaction. Returns a result if nothing is to be changed. */
  readonly decide: () => CorrectionPlan | CorrectionResult;
  /** Called after the transaction. */
  readonly complete?: (result: CorrectionResult) => CorrectionResult;
}

export interface CorrectionPlan {
  readonly touched: Touched;
  /** Changes the rows in `touched`, and records the rows that it creates. */
  readonly work: (correctionId: number) => void;
  /** Members whom the operator sees before confirming. */
  readonly members?: readonly MemberFate[];
  /** Stored with the correction, so without personal data. */
  readonly notes?: readonly Text[];
  /** Further options to store, which only `decide` knows. */
  readonly options?: object;
  readonly compared?: ComparedPeople | undefined;
  /** Further values that the operator sees before confirming. They are part of the fingerprint. */
  readonly seen?: unknown;
  /** True for an erasure: the history stores no values. */
  readonly keepsNoValues?: boolean;
}

export type MemberFate = Pick<AffectedMember, 'id' | 'fate'>;

export interface Day {
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** Epoch seconds at which the day starts in the registry's zone. */
  readonly startsAt: number;
}

/** Options of a correction, and statements to which the operator agrees. */
export interface AgreedOptions extends CorrectionOptions {
  /** True if a national ID may be released, or taken from another person. */
  readonly releases?: boolean | undefined;
  readonly samePerson?: boolean | undefined;
}

export const MAX_REASON_LENGTH = 500;

/**
 * Parses the reason of a correction: 1 to 500 characters (docs/correcting.md#every-correction). The reason
 * stays after the erasure of a person, so a reason must not contain a national ID.
 */
export function parseReason(text: string): string | FieldError {
  const reason = parseText(text, MAX_REASON_LENGTH);
  if (reason instanceof FieldError) return reason;
  return mayContainIdentityCard(reason) ? new FieldError('Write the reason without national IDs.') : reason;
}

export const refuse = (message: Text, collisions: readonly Collision[] = []): CorrectionRefused => ({
  outcome: 'refused',
  message,
  collisions,
});

/** Returns the result of a correction whose changes an earlier correction has already made. */
export const repeated = (
  db: Connection,
  correctionId: number,
  members: readonly MemberFate[],
  note: Message,
): CorrectionDone => ({
  ...{ outcome: 'done', correctionId, rows: {}, notes: [note], lockMs: 0, isRepeated: true },
  members: members.map((member) => nameMember(db, member)),
});

export interface MemberRow {
  readonly id: number;
  readonly cooperative_id: number;
  readonly identity_card: string;
  readonly status: MemberStatus;
  /** Epoch seconds. */
  readonly registration_date: number;
}

export function findMember(db: Connection, id: number): MemberRow | CorrectionRefused {
  const member = db.row<MemberRow>(
    'SELECT id, cooperative_id, identity_card, status, registration_date FROM main.members WHERE id = ?',
    [id],
  );
  if (member !== undefined) return isErased(member) ? refuse(say('Member {id} was erased.', { id })) : member;
  const into = redirectOf(db, MERGED_MEMBERS, id);
  return into === undefined
    ? refuse(say('There is no member {id}.', { id }))
    : refuse(say('Member {id} was merged into member {into}.', { id, into }));
}

export const findCooperative = (db: Connection, code: string): { id: number } | CorrectionRefused =>
  db.row<{ id: number }>('SELECT id FROM main.cooperatives WHERE code = ?', [code]) ??
  refuse(say('There is no cooperative {code}.', { code }));

/** SQL that creates the tables of members to merge (merges.ts) and to move (members-move.ts). */
const STAGED = `CREATE TEMP TABLE pairs (from_id INTEGER PRIMARY KEY, into_id INTEGER NOT NULL UNIQUE);
  CREATE TEMP TABLE moving (id INTEGER PRIMARY KEY);`;

/** @throws RegistryError `unavailable` if other writers keep the lock or the disk is full */
export function runCorrection(
  scope: OperationScope,
  correction: Correction,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const work = (): Outcome<CorrectionResult> => {
    // After a refusal, the rollback also removes the temporary tables.
    db.exec(STAGED);
    const plan = correction.decide();
    if ('outcome' in plan) return { result: plan, isKept: false };
    const result = carryOut(db, correction, plan, options);
    const shown = [result.rows, result.members, result.notes, plan.seen];
    return { result, isKept: options.isDryRun !== true, shown };
  };
  const { nowSeconds, agreed } = options;
  const { result, ...performed } = perform(scope, 'Nothing was changed', nowSeconds, work, agreed);
  const { complete = (completed: CorrectionResult) => completed } = correction;
  if (result.outcome === 'refused' || result.isRepeated === true) return complete(result);
  if (performed.fingerprint !== undefined) return complete({ ...result, ...performed, correctionId: null });
  // After an erasure, the result must not name the members.
  const members = correction.kind === 'persons_erase' ? [] : result.members;
  return complete({ ...result, ...performed, members });
}

function carryOut(
  db: Connection,
  { kind, options }: Correction,
  plan: CorrectionPlan,
  { systemUser, nowSeconds, reason }: CorrectionOptions,
): CorrectionDone {
  const { touched, work, notes = [], compared, keepsNoValues } = plan;
  // The operation is recorded first, because other tables refer to the operation.
  const recorded = { kind, options: { ...options, ...plan.options }, notes, reason, systemUser };
  const id = beginOperation(db, recorded, nowSeconds);
  const members = (plan.members ?? []).map((member) => nameMember(db, member));
  const change = () => {
    work(id);
    return createdRows(db, id);
  };
  const rows = track(db, touched, { actor: `correction:${id}`, nowSeconds }, change, keepsNoValues);
  const counts = Object.values(rows);
  endOperation(db, id, {
    created: counts.reduce((sum, { created }) => sum + created, 0),
    changed: counts.reduce((sum, { changed, removed }) => sum + changed + removed, 0),
  });
  db.exec('DROP TABLE temp.pairs; DROP TABLE temp.moving');
  const begun = createdRows(db, id).get('members');
  if (begun !== undefined) members.push(nameMember(db, { id: begun.first, fate: 'begins' }));
  return { outcome: 'done', correctionId: id, rows, members, notes, compared, lockMs: 0 };
}
