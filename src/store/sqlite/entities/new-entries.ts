/** New deliveries and savings transactions of single requests, by the rules of imports. */
import type { Visible } from '../../../domain/access/visible.ts';
import {
  ACCOUNT_FIELDS,
  type NewDelivery,
  type NewSavingsTransaction,
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from '../../../domain/entries/entries.ts';
import { ENDED_MEMBER_STATUSES, type Member } from '../../../domain/membership/members.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { type Fields, listFields } from '../../../domain/values/declared-fields.ts';
import { FieldErrorList, notFound } from '../../../domain/values/errors.ts';
import type { Actor } from '../../contract/journal/history.ts';
import type { EntryStore, EntryWrites, MemberStore, StoreOf } from '../../contract/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { beginningAfterTransfer, transfersSql } from '../identity/transfers.ts';
import { REVERSED_ACTORS } from '../journal/operations.ts';
import { newIdSql } from '../journal/record-changes.ts';
import { openEntryRecorder } from '../journal/recorder.ts';
import type { ReadModelFormat } from '../read-model/format.ts';
import { openColumnRefresh } from '../read-model/refresh.ts';
import { tableOf } from '../schema/tables.ts';
import { stagedColumns } from '../schema/targets.ts';
import { nextReferenceSql, openDerivation } from '../staging/staged/derived-references.ts';
import type { StoreDependencies } from './row-store.ts';

export interface NewEntriesOptions extends Pick<StoreDependencies, 'snapshot' | 'responses'> {
  readonly format: ReadModelFormat;
  /** Says which members are seen, and which are gone. */
  readonly membersOf: StoreOf<Pick<MemberStore, 'find'>>;
}

type EntryKind = 'production' | 'savings';
type Value = string | number | null;
interface Values {
  readonly [property: string]: Value;
}

/** @param owner column of the member, or of the account of the member */
function openInsert(db: Connection, kind: EntryKind, owner: string, fields: Fields) {
  const { table } = tableOf(kind);
  const declared = listFields(fields);
  const insert = db.prepare<Value[]>(
    `INSERT INTO ${table} (id, cooperative_id, ${owner}, ${declared.map(({ column }) => column).join(', ')})
     VALUES (${newIdSql(table)}, ?, ?, ${declared.map(() => '?').join(', ')})`,
  );
  return (cooperativeId: number, ownerId: number, values: object): number => {
    const given = declared.map(({ property }) => (values as Values)[property] as Value);
    return Number(insert.run(cooperativeId, ownerId, ...given).lastInsertRowid);
  };
}

/** @param fields those of which a file has columns */
function openReferences(db: Connection, kind: EntryKind, fields: Fields) {
  const { table } = tableOf(kind);
  const columns = stagedColumns(kind).map(({ name }) => name);
  const derive = openDerivation(kind, columns);
  const declared = listFields(fields);
  const selectTaken = db.prepare<[cooperativeId: number, reference: string], object>(
    `SELECT 1 FROM ${table} WHERE cooperative_id = ? AND reference = ?`,
  );
  const selectNext = db.prepare<[{ first: string; cooperativeId: number }], { reference: string }>(
    nextReferenceSql(table),
    'equal entries of one member',
  );
  return {
    isTaken: ({ cooperativeId }: Member, reference: string): boolean =>
      selectTaken.get(cooperativeId, reference) !== undefined,

    /** That of a row of a file without one, which names the member by its code. */
    derive({ cooperativeId, cooperativeCode, memberCode }: Member, values: object): string {
      const given = declared.map(({ name, property }) => [name, (values as Values)[property]]);
      const cells: { readonly [column: string]: Value | undefined } = {
        ...Object.fromEntries(given),
        ...{ cooperative_code: cooperativeCode, member_code: memberCode },
      };
      const first = derive({ values: columns.map((name) => cells[name] ?? null) });
      return (selectNext.get({ first, cooperativeId }) as { reference: string }).reference;
    },
  };
}

/** @returns whether an entry began after its member had changed to another cooperative */
function openTransferCheck(db: Connection, kind: EntryKind, zone: TimeZone) {
  const { column, isAfter } = beginningAfterTransfer(kind, zone);
  const select = db.prepare<[{ memberId: number; at: number; kind: string | null }], object>(
    `SELECT 1 FROM (${transfersSql(REVERSED_ACTORS)}) t CROSS JOIN (SELECT @at AS ${column}, @kind AS kind) r
     WHERE t.member_id = @memberId AND ${isAfter} LIMIT 1`,
    'changes of cooperative, where a membership has ended',
  );
  return ({ id, status }: Member, at: number, kindOfEntry: string | null = null): boolean =>
    ENDED_MEMBER_STATUSES.includes(status) &&
    select.get({ memberId: id, at, kind: kindOfEntry }) !== undefined;
}

const NOT_UNIQUE = 'This field must be unique.';
const BELONGS_ELSEWHERE = 'The member had changed to another cooperative by then: record it there.';

/** What one kind of entries has of its own: both run inside a write, or a read of the snapshot. */
interface OfKind<Given, Entry> {
  addConflicts(member: Member, values: Partial<Given>, faults: FieldErrorList): void;
  /** Adds what it has checked, and what follows from it. */
  add(member: Member, values: Given, nowSeconds: number, actor: Actor): Entry;
}

function openDeliveries(db: Connection, format: ReadModelFormat): OfKind<NewDelivery, ProductionEntry> {
  const insert = openInsert(db, 'production', 'member_id', PRODUCTION_FIELDS);
  const references = openReferences(db, 'production', PRODUCTION_FIELDS);
  const isAfterTransfer = openTransferCheck(db, 'production', format.zone);
  const history = openEntryRecorder(db, ['production']);
  const refresh = openColumnRefresh(db, format, 'production');
  return {
    addConflicts(member, { reference, deliveredAt }, faults) {
      if (typeof reference === 'string' && references.isTaken(member, reference))
        faults.add('reference', NOT_UNIQUE);
      if (deliveredAt !== undefined && isAfterTransfer(member, deliveredAt))
        faults.add('delivered_at', BELONGS_ELSEWHERE);
    },
    add(member, given, nowSeconds, actor) {
      const values = { ...given, reference: given.reference ?? references.derive(member, given) };
      const id = insert(member.cooperativeId, member.id, values);
      history.created({ production: id }, member, nowSeconds, actor);
      refresh(member.id, nowSeconds);
      return { id, ...values };
    },
  };
}

interface Account {
  readonly id: number;
  readonly memberId: number;
}

function openSavings(
  db: Connection,
  format: ReadModelFormat,
): OfKind<NewSavingsTransaction, SavingsTransaction> {
  const selectAccount = db.prepare<[cooperativeId: number, accountNumber: string], Account>(
    `SELECT id, member_id AS memberId FROM savings_accounts WHERE cooperative_id = ? AND account_number = ?`,
  );
  const insertAccount = db.prepare<[cooperativeId: number, memberId: number, accountNumber: string]>(
    `INSERT INTO savings_accounts (id, cooperative_id, member_id, account_number)
     VALUES (${newIdSql('savings_accounts')}, ?, ?, ?)`,
  );
  const insert = openInsert(db, 'savings', 'account_id', SAVINGS_FIELDS);
  const references = openReferences(db, 'savings', { ...ACCOUNT_FIELDS, ...SAVINGS_FIELDS });
  const isAfterTransfer = openTransferCheck(db, 'savings', format.zone);
  const history = openEntryRecorder(db, ['accounts', 'savings']);
  const refresh = openColumnRefresh(db, format, 'savings');
  return {
    addConflicts(member, { reference, accountNumber, kind, transactedAt }, faults) {
      if (typeof reference === 'string' && references.isTaken(member, reference))
        faults.add('reference', NOT_UNIQUE);
      const account = accountNumber && selectAccount.get(member.cooperativeId, accountNumber);
      if (account && account.memberId !== member.id)
        faults.add('account_number', 'This account belongs to another member of the cooperative.');
      if (kind !== undefined && transactedAt !== undefined && isAfterTransfer(member, transactedAt, kind))
        faults.add('transacted_at', BELONGS_ELSEWHERE);
    },
    add(member, given, nowSeconds, actor) {
      const { cooperativeId, id: memberId } = member;
      const { accountNumber } = given;
      const values = { ...given, reference: given.reference ?? references.derive(member, given) };
      const known = selectAccount.get(cooperativeId, accountNumber)?.id;
      const opened =
        known === undefined
          ? { accounts: Number(insertAccount.run(cooperativeId, memberId, accountNumber).lastInsertRowid) }
          : {};
      const id = insert(cooperativeId, known ?? (opened.accounts as number), values);
      history.created({ ...opened, savings: id }, member, nowSeconds, actor);
      refresh(memberId, nowSeconds);
      return { id, ...values };
    },
  };
}

/** @returns what adds entries, by what is seen */
export function openNewEntries(
  db: Connection,
  { snapshot, responses, format, membersOf }: NewEntriesOptions,
): (visible: Visible) => Pick<EntryStore, 'deliveries' | 'savingsTransactions'> {
  const deliveries = openDeliveries(db, format);
  const savings = openSavings(db, format);
  const writes = <Given, Entry>(
    { addConflicts, add }: OfKind<Given, Entry>,
    visible: Visible,
  ): EntryWrites<Given, Entry> => {
    const members = membersOf(visible);
    const check = (memberId: number, values: Partial<Given>) => {
      const member = members.find(memberId);
      if (member === undefined) throw notFound();
      const faults = new FieldErrorList();
      addConflicts(member, values, faults);
      return { member, faults };
    };
    return {
      conflicts: (memberId, values) => snapshot.read(() => check(memberId, values).faults.fields),
      create: (memberId, values, nowSeconds, actor, keep) =>
        responses.create(keep, nowSeconds, () => {
          const { member, faults } = check(memberId, values);
          faults.throwIfAny();
          return add(member, values, nowSeconds, actor);
        }),
    };
  };
  return (visible) => ({
    deliveries: writes(deliveries, visible),
    savingsTransactions: writes(savings, visible),
  });
}
