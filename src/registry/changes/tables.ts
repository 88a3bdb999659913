/**
 * Descriptions of the tables of people and their entries: ownership, references and unique columns. History,
 * events, counts, undo, moves, merges, erasure and the inspection of a person are derived from them.
 */

import type { Connection } from '../../sqlite/connection.ts';
import { listFields } from '../../values/declared-fields.ts';
import { FILE_FIELDS } from '../file-columns.ts';
import type { EventEntity, EventSummary } from './events.ts';

/** Entities of the registry, under their names in the history; parents before children. */
export const CHANGED_ENTITIES = [
  ...(['cooperatives', 'members', 'production', 'loans'] as const),
  ...(['payments', 'accounts', 'savings'] as const),
] as const;
export type ChangedEntity = (typeof CHANGED_ENTITIES)[number];

// A stored column of the read model is not served if
//
// - it carries the stale flag, set by triggers in the transaction that changes the entries
//   (../../sqlite/registry-1.sql);
// - it was stored under another version of the rules (`RULES_VERSION` of stores/read-model.ts);
// - it holds production, and a delivery has expired or happened since (registry/entries.ts).

/** The stale flag; never change it, as existing files contain it. */
const STALE = '';
export const STALE_SQL = `'${STALE}'`;

/** Columns of `members` that hold the read model. */
export const READ_MODEL_COLUMNS = ['production', 'loans', 'savings'] as const;
export type ReadModelColumn = (typeof READ_MODEL_COLUMNS)[number];

/** Condition on members with a stale column. Must match the partial index `members_unsummarized`. */
export const IS_STALE = READ_MODEL_COLUMNS.map((column) => `${column} = ${STALE_SQL}`).join(' OR ');

/**
 * Statement that marks a column as stale.
 * @param members condition on the members whose entries changed
 */
export const markStaleSql = (column: ReadModelColumn, members: string): string =>
  `UPDATE main.members SET ${column} = ${STALE_SQL} WHERE ${column} IS NOT ${STALE_SQL} AND ${members}`;

/** Event representation of a changed row: an event of its own, or a field of its member's event. */
type Announced = { readonly entity: EventEntity } | { readonly memberField: EventSummary };

interface Description {
  readonly table: string;
  /** Column with the label of a row: unique in its cooperative, and never a national ID. */
  readonly label: string;
  readonly announced: Announced;
  /** Parent of the row besides its cooperative: a member, or a row of a member. */
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

/** In an order in which each table refers only to earlier tables. */
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
 * FROM clause of the rows `e` owned by members `m`, which the caller has selected before; few members only,
 * as each costs a search.
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

/** Computed columns, and the time of the change itself. */
const NOT_RECORDED: readonly string[] = ['id', 'updated_at', ...READ_MODEL_COLUMNS];

interface RecordedColumn {
  readonly column: string;
  readonly field: string;
}

/** All columns of a table except the id and computed ones, also columns of later schemas. */
export function recordedColumns(db: Connection, { table }: Pick<Table, 'table'>): RecordedColumn[] {
  const columns = db.raw.pragma(`main.table_info(${table})`) as { name: string }[];
  return columns
    .filter(({ name }) => !NOT_RECORDED.includes(name))
    .map(({ name }) => ({ column: name, field: fieldOfColumn(name) }));
}
