/**
 * Descriptions of the tables of people and their entries: ownership, references and unique columns. History,
 * events, counts, undo, moves, merges, erasure and the inspection of a person are derived from them.
 */

import type { Connection } from '../../sqlite/connection.ts';
import { type Field, listFields, NOW } from '../../values/declared-fields.ts';
import { byKind, FILE_COLUMNS, FILE_FIELDS, type FileColumn, type ImportKind } from '../file-columns.ts';
import { CHANGED_ENTITIES, type ChangedEntity } from './correction-kinds.ts';
import type { EventEntity, EventSummary } from './events.ts';

// A stored column of the read model is not served if
//
// - it carries the stale flag, set by triggers in the transaction that changes the entries
//   (../../sqlite/registry-1.sql);
// - it was stored under another version of the rules (`RULES_VERSION` of stores/read-model.ts);
// - it holds production, and a delivery has expired or happened since (registry/entries.ts).

/** The stale flag. Stored in existing files: it must not change. */
const STALE = '';
export const STALE_SQL = `'${STALE}'`;

/** Columns of `members` that hold the read model. */
export const READ_MODEL_COLUMNS = ['production', 'loans', 'savings'] as const;
export type ReadModelColumn = (typeof READ_MODEL_COLUMNS)[number];

/** Condition on members with a stale column. Must match the partial index `members_unsummarized`. */
export const IS_STALE = READ_MODEL_COLUMNS.map((column) => `${column} = ${STALE_SQL}`).join(' OR ');

/**
 * SQL statement that marks a column as stale.
 * @param members condition on the members whose entries changed
 */
export const markStaleSql = (column: ReadModelColumn, members: string): string =>
  `UPDATE main.members SET ${column} = ${STALE_SQL} WHERE ${column} IS NOT ${STALE_SQL} AND ${members}`;

/** Event representation of a changed row: an event of its own, or a field of its member's event. */
type Announced = { readonly entity: EventEntity } | { readonly memberField: EventSummary };

interface Description {
  readonly table: string;
  /** Column of the label of a row: never a national ID. It is unique in the cooperative. */
  readonly label: string;
  readonly announced: Announced;
  /** Parent of the row besides its cooperative: a member, or something a member has. */
  readonly owner?: { readonly column: string; readonly entity: ChangedEntity };
}

export interface Table extends Description {
  readonly entity: ChangedEntity;
  /** True for rows with events of their own. */
  readonly hasTimestamps: boolean;
  /** Sets of columns, besides the id, that are unique in the table. */
  readonly unique: readonly (readonly string[])[];
}

const DESCRIPTIONS = {
  cooperatives: { table: 'cooperatives', label: 'code', announced: { entity: 'cooperative' } },
  members: { table: 'members', label: 'member_code', announced: { entity: 'member' } },
  production: {
    table: 'production_entries',
    label: 'reference',
    announced: { memberField: 'production_summary' },
    owner: { column: 'member_id', entity: 'members' },
  },
  loans: {
    table: 'loans',
    label: 'reference',
    announced: { entity: 'loan' },
    owner: { column: 'member_id', entity: 'members' },
  },
  payments: {
    table: 'payments',
    label: 'reference',
    announced: { entity: 'payment' },
    owner: { column: 'loan_id', entity: 'loans' },
  },
  accounts: {
    table: 'savings_accounts',
    label: 'account_number',
    announced: { memberField: 'savings_summary' },
    owner: { column: 'member_id', entity: 'members' },
  },
  savings: {
    table: 'savings_transactions',
    label: 'reference',
    announced: { memberField: 'savings_summary' },
    owner: { column: 'account_id', entity: 'accounts' },
  },
} as const satisfies { readonly [entity in ChangedEntity]: Description };

function describeTable(entity: ChangedEntity): Table {
  const description: Description = DESCRIPTIONS[entity];
  const keys = entity === 'members' ? ['identity_card', description.label] : [description.label];
  const hasTimestamps = 'entity' in description.announced;
  const unique = keys.map((key) => (entity === 'cooperatives' ? [key] : ['cooperative_id', key]));
  return { entity, ...description, hasTimestamps, unique };
}

/** Ordered so that tables refer only to earlier ones. */
export const TABLES: readonly Table[] = CHANGED_ENTITIES.map(describeTable);

export const tableOf = (entity: ChangedEntity): Table =>
  TABLES.find((each) => each.entity === entity) as Table;

/** Entities whose rows have their own events. */
export type RecordedEntity = {
  [entity in ChangedEntity]: (typeof DESCRIPTIONS)[entity]['announced'] extends { entity: EventEntity }
    ? entity
    : never;
}[ChangedEntity];
export const announcedEntity = (entity: RecordedEntity): EventEntity => DESCRIPTIONS[entity].announced.entity;

/** Entities that belong to a member, directly or through another owned row. */
export type OwnedEntity = Exclude<ChangedEntity, 'cooperatives' | 'members'>;
export const OWNED_ENTITIES = CHANGED_ENTITIES.filter(
  (entity): entity is OwnedEntity => tableOf(entity).owner !== undefined,
);

export const referencesOf = (table: Table): { readonly column: string; readonly entity: ChangedEntity }[] => [
  ...(table.entity === 'cooperatives' ? [] : [{ column: 'cooperative_id', entity: 'cooperatives' } as const]),
  ...(table.owner === undefined ? [] : [table.owner]),
];

/** SQL of the cooperative of the row with the alias `row`. */
export const cooperativeSql = (entity: ChangedEntity, row: string): string =>
  entity === 'cooperatives' ? `${row}.id` : `${row}.cooperative_id`;

/** SQL of the member who owns the row with the alias `row`. */
export function memberSql(entity: OwnedEntity, row: string): string {
  const { column, entity: owner } = tableOf(entity).owner as NonNullable<Table['owner']>;
  return memberOfOwnerSql(owner, `${row}.${column}`);
}

/**
 * SQL of the member who owns a row with this parent.
 * @param id SQL of the id of the parent
 */
export const memberOfOwnerSql = (owner: ChangedEntity, id: string): string =>
  owner === 'members' ? id : `(SELECT member_id FROM main.${tableOf(owner).table} WHERE id = ${id})`;

/**
 * SELECT of the ids of rows owned by members.
 * @param members SQL of member ids, as accepted by `IN`
 */
export function ownedIdsSql(entity: OwnedEntity, members: string): string {
  const { table, owner } = tableOf(entity) as Required<Table>;
  const owners = owner.entity === 'members' ? members : ownedIdsSql(owner.entity as OwnedEntity, members);
  return `SELECT id FROM main.${table} WHERE ${owner.column} IN (${owners})`;
}

/**
 * FROM clause of the rows `e` owned by members `m`. The caller selects `m` before it; there should be few.
 */
export function joinOwnedSql(entity: OwnedEntity): string {
  const { table, owner } = tableOf(entity) as Required<Table>;
  if (owner.entity === 'members') return `CROSS JOIN main.${table} e ON e.${owner.column} = m.id`;
  return `CROSS JOIN main.${tableOf(owner.entity).table} o ON o.member_id = m.id
    CROSS JOIN main.${table} e ON e.${owner.column} = o.id`;
}

/** Names of declared fields in bodies and import files. */
const FIELD_NAMES: ReadonlyMap<string, string> = new Map(
  FILE_FIELDS.flatMap(listFields).map(({ column, name }) => [column, name]),
);

export const fieldOfColumn = (column: string): string => FIELD_NAMES.get(column) ?? column;

/** Columns that are computed or hold the time of the change itself. */
const NOT_RECORDED: readonly string[] = ['id', 'updated_at', ...READ_MODEL_COLUMNS];

interface RecordedColumn {
  readonly column: string;
  readonly field: string;
}

/**
 * Every column of a table except the id and computed ones. Columns added by later schemas are included
 * automatically.
 */
export function recordedColumns(db: Connection, { table }: Pick<Table, 'table'>): RecordedColumn[] {
  const columns = db.raw.pragma(`main.table_info(${table})`) as { name: string }[];
  return columns
    .filter(({ name }) => !NOT_RECORDED.includes(name))
    .map(({ name }) => ({ column: name, field: fieldOfColumn(name) }));
}

// Opening balance of a loan, and its end, from a loans file (docs/import-reference.md#opening-balances). In
// each expression `r` is the staged row and `t` the stored loan.

/** True if the row has an opening balance that differs from that of the stored loan. */
export const IS_ANOTHER_BALANCE = 'r.paid_amount NOT IN (t.opening_balance_minor, t.paid_amount_minor)';

/** New opening balance of a stored loan. */
export const OPENING_BALANCE = `iif(${IS_ANOTHER_BALANCE}, r.paid_amount, t.opening_balance_minor)`;

/** End of the opening balance of a new loan; null without one. */
export const NEW_CUT_OFF = 'iif(r.paid_amount > 0, r.paid_until, NULL)';
/** End of the opening balance of a stored loan. It changes only together with the balance. */
export const CUT_OFF = `iif(${IS_ANOTHER_BALANCE}, ${NEW_CUT_OFF}, t.paid_until)`;

// Targets of import columns, and the meaning of an empty cell for a stored row

export interface TargetColumn {
  /** Staged column of the file. */
  readonly from: string;
  readonly to: string;
  readonly type: 'TEXT' | 'INTEGER';
  /** Effect of an empty cell on an existing row: clears the column, or keeps the stored value. */
  readonly whenEmpty: 'clear' | 'keep';
  /** SQL of the value that a new row gets for an empty cell; `@now` is the time of the import. */
  readonly initial?: string;
  /**
   * SQL over the staged row `r` and the stored row `t`, instead of the two above, where the value also
   * depends on other columns.
   */
  readonly decided?: { readonly created: string; readonly changed: string };
  /** Column of the table that includes this value in a sum and changes by the same amount. */
  readonly addsTo?: string;
}

export interface Target extends Pick<Table, 'table' | 'label' | 'hasTimestamps'> {
  readonly columns: readonly TargetColumn[];
  /** Columns of the file that identify the row: staged, resolved, never updated. */
  readonly keys: readonly { readonly name: string; readonly to?: string }[];
  /** Columns of resolved references that a new row stores. */
  readonly resolved: readonly string[];
}

/** Columns of loans that depend on each other. */
const DECIDED: { readonly [column: string]: Pick<TargetColumn, 'decided' | 'addsTo'> } = {
  opening_balance_minor: {
    addsTo: 'paid_amount_minor',
    decided: { created: 'coalesce(r.paid_amount, 0)', changed: OPENING_BALANCE },
  },
  paid_until: { decided: { created: NEW_CUT_OFF, changed: CUT_OFF } },
};

const NUMBERS: readonly Field['kind'][] = ['instant', 'past_instant', 'decimal'];
const typeOf = ({ kind }: Field): TargetColumn['type'] => (NUMBERS.includes(kind) ? 'INTEGER' : 'TEXT');

function toTargetColumn({ name, isRequired, field }: FileColumn): TargetColumn {
  const { column, initial, isNullable, isKeptByEmptyCell } = field;
  return {
    from: name,
    to: column,
    type: typeOf(field),
    whenEmpty: isNullable === true && isKeptByEmptyCell !== true ? 'clear' : 'keep',
    ...(initial === undefined || isRequired ? {} : { initial: initial === NOW ? '@now' : `'${initial}'` }),
    ...DECIDED[column],
  };
}

function targetOf(kind: ImportKind): Target {
  const { table, label, hasTimestamps } = tableOf(kind);
  const columns = FILE_COLUMNS[kind];
  return {
    table,
    label,
    hasTimestamps,
    resolved: referencesOf(tableOf(kind)).map(({ column }) => column),
    keys: columns.flatMap(({ name, role, field }) => {
      if (role === 'value') return [];
      return [role === 'key' ? { name, to: field.column } : { name }];
    }),
    columns: columns.filter(({ role }) => role === 'value').map(toTargetColumn),
  };
}

export const TARGETS = byKind(targetOf);

/** Columns of a staged row after its line number, in the order of `StagedRow.values`. */
export const stagedColumns = (kind: ImportKind): { name: string; type: string }[] =>
  FILE_COLUMNS[kind].map(({ name, field }) => ({ name, type: typeOf(field) }));
