/**
 * Describes the tables of cooperatives, members and entries: owners, references and unique columns. History,
 * events, counts, undo, corrections and reports about persons use these descriptions.
 */

import type { Connection } from '../../sqlite/connection.ts';
import { listFields } from '../../values/declared-fields.ts';
import { FILE_FIELDS } from '../file-columns.ts';
import type { EventEntity, EventSummary } from './event-types.ts';

/** Entities of the registry by their names in the history, parents before children. */
export const CHANGED_ENTITIES = [
  ...(['cooperatives', 'members', 'production', 'loans'] as const),
  ...(['payments', 'accounts', 'savings'] as const),
] as const;
export type ChangedEntity = (typeof CHANGED_ENTITIES)[number];

/**
 * SQL of the value that marks a column of the read model as stale. Triggers set the value when entries change
 * (../../sqlite/registry-1.sql). Never change this value, because existing files contain it.
 */
export const STALE_SQL = "''";

export const READ_MODEL_COLUMNS = ['production', 'loans', 'savings'] as const;
export type ReadModelColumn = (typeof READ_MODEL_COLUMNS)[number];

/** Must equal the condition of the partial index `members_unsummarized`. */
export const IS_STALE = READ_MODEL_COLUMNS.map((column) => `${column} = ${STALE_SQL}`).join(' OR ');

/** @param members SQL condition for the members whose entries changed */
export const markStaleSql = (column: ReadModelColumn, members: string): string =>
  `UPDATE main.members SET ${column} = ${STALE_SQL} WHERE ${column} IS NOT ${STALE_SQL} AND ${members}`;

/**
 * How events report a change of a row: with an event about the row, or with a field in an event of its
 * member.
 */
type Announced = { readonly entity: EventEntity } | { readonly memberField: EventSummary };

interface Description {
  readonly table: string;
  /** Column whose values are unique within a cooperative, and never national IDs. */
  readonly label: string;
  readonly announced: Announced;
  /** Owner besides the cooperative: a member, or a row of a member, such as a loan. */
  readonly owner?: { readonly column: string; readonly entity: ChangedEntity };
}

export interface Table extends Description {
  readonly entity: ChangedEntity;
  /** Only rows with events have `created_at` and `updated_at`. */
  readonly hasTimestamps: boolean;
  /** Sets of columns whose values together are unique in the table. The id is not listed. */
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

/** In this order, the rows of each table refer only to rows of earlier tables. */
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

/** @param row alias */
export const cooperativeSql = (entity: ChangedEntity, row: string): string =>
  entity === 'cooperatives' ? `${row}.id` : `${row}.cooperative_id`;

/** SQL of the id of the member who owns the row with the alias `row`, directly or through another row. */
export function memberSql(entity: OwnedEntity, row: string): string {
  const { column, entity: owner } = tableOf(entity).owner as NonNullable<Table['owner']>;
  return memberOfOwnerSql(owner, `${row}.${column}`);
}

/**
 * @param owner entity of the row's owner
 * @param id SQL of the id of the row's owner
 */
export const memberOfOwnerSql = (owner: ChangedEntity, id: string): string =>
  owner === 'members' ? id : `(SELECT member_id FROM main.${tableOf(owner).table} WHERE id = ${id})`;

/** @param members SQL of member ids, as accepted by `IN` */
export function ownedIdsSql(entity: OwnedEntity, members: string): string {
  const { table, owner } = tableOf(entity) as Required<Table>;
  const owners = owner.entity === 'members' ? members : ownedIdsSql(owner.entity as OwnedEntity, members);
  return `SELECT id FROM main.${table} WHERE ${owner.column} IN (${owners})`;
}

/** Returns joins that add the rows `e` of the members `m`. Each member costs an index search. */
export function joinOwnedSql(entity: OwnedEntity): string {
  const { table, owner } = tableOf(entity) as Required<Table>;
  if (owner.entity === 'members') return `CROSS JOIN main.${table} e ON e.${owner.column} = m.id`;
  return `CROSS JOIN main.${tableOf(owner.entity).table} o ON o.member_id = m.id
    CROSS JOIN main.${table} e ON e.${owner.column} = o.id`;
}

const FIELD_NAMES: ReadonlyMap<string, string> = new Map(
  FILE_FIELDS.flatMap(listFields).map(({ column, name }) => [column, name]),
);

/** Returns the name of the column's field in request bodies and import files. */
export const fieldOfColumn = (column: string): string => FIELD_NAMES.get(column) ?? column;

const NOT_RECORDED: readonly string[] = ['id', 'updated_at', ...READ_MODEL_COLUMNS];

/** Lists the columns that the history records, including columns that a later schema added to the file. */
export function recordedColumns(db: Connection, { table }: Table) {
  const columns = db.raw.pragma(`main.table_info(${table})`) as { name: string }[];
  return columns
    .filter(({ name }) => !NOT_RECORDED.includes(name))
    .map(({ name }) => ({ column: name, field: fieldOfColumn(name) }));
}
