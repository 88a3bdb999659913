/**
 * What each table of people and their entries is: the one place that knows which rows belong to whom, what
 * refers to what and what must be unique. History, events, counts, undo, moves, merges, erasure and the
 * inspection of a person are derived from it.
 */
import type { EventEntity, EventSummary } from '../../../domain/events.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { FILE_FIELDS } from '../../contract/import/import-columns.ts';
import { CHANGED_ENTITIES, type ChangedEntity } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { READ_MODEL_COLUMNS } from './stale-flag.ts';

/** What a change of a row is in the sequence of events: an event of its own, or a field of its member. */
export type Announced = { readonly entity: EventEntity } | { readonly memberField: EventSummary };

interface Description {
  readonly table: string;
  /** Column of what people call a row: never a national ID. */
  readonly label: string;
  readonly announced: Announced;
  readonly hasTimestamps: boolean;
  /** Sets of columns, beside the id, that no two rows share. */
  readonly unique: readonly (readonly string[])[];
  /** The row that this one is part of, besides its cooperative: a member, or something a member has. */
  readonly owner?: { readonly column: string; readonly entity: ChangedEntity };
}

export interface Table extends Description {
  readonly entity: ChangedEntity;
}

const DESCRIPTIONS = {
  cooperatives: {
    table: 'cooperatives',
    label: 'code',
    announced: { entity: 'cooperative' },
    hasTimestamps: true,
    unique: [['code']],
  },
  members: {
    table: 'members',
    label: 'member_code',
    announced: { entity: 'member' },
    hasTimestamps: true,
    unique: [
      ['cooperative_id', 'identity_card'],
      ['cooperative_id', 'member_code'],
    ],
  },
  production: {
    table: 'production_entries',
    label: 'reference',
    announced: { memberField: 'production_summary' },
    hasTimestamps: false,
    unique: [['cooperative_id', 'reference']],
    owner: { column: 'member_id', entity: 'members' },
  },
  loans: {
    table: 'loans',
    label: 'reference',
    announced: { entity: 'loan' },
    hasTimestamps: true,
    unique: [['cooperative_id', 'reference']],
    owner: { column: 'member_id', entity: 'members' },
  },
  payments: {
    table: 'payments',
    label: 'reference',
    announced: { entity: 'payment' },
    hasTimestamps: true,
    unique: [['cooperative_id', 'reference']],
    owner: { column: 'loan_id', entity: 'loans' },
  },
  accounts: {
    table: 'savings_accounts',
    label: 'account_number',
    announced: { memberField: 'savings_summary' },
    hasTimestamps: false,
    unique: [['cooperative_id', 'account_number']],
    owner: { column: 'member_id', entity: 'members' },
  },
  savings: {
    table: 'savings_transactions',
    label: 'reference',
    announced: { memberField: 'savings_summary' },
    hasTimestamps: false,
    unique: [['cooperative_id', 'reference']],
    owner: { column: 'account_id', entity: 'accounts' },
  },
} as const satisfies { readonly [entity in ChangedEntity]: Description };

/** In the order in which later ones refer to earlier ones. */
export const TABLES: readonly Table[] = CHANGED_ENTITIES.map((entity) => ({
  entity,
  ...(DESCRIPTIONS[entity] as Description),
}));

export const tableOf = (entity: ChangedEntity): Table =>
  TABLES.find((each) => each.entity === entity) as Table;

/** The entities whose rows have events of their own. */
export type RecordedEntity = {
  [entity in ChangedEntity]: (typeof DESCRIPTIONS)[entity]['announced'] extends { entity: EventEntity }
    ? entity
    : never;
}[ChangedEntity];
export const announcedEntity = (entity: RecordedEntity): EventEntity => DESCRIPTIONS[entity].announced.entity;

/** What belongs to a member, by itself or through something else that does. */
export type OwnedEntity = Exclude<ChangedEntity, 'cooperatives' | 'members'>;
export const OWNED_ENTITIES = CHANGED_ENTITIES.filter(
  (entity): entity is OwnedEntity => tableOf(entity).owner !== undefined,
);

/** Columns by which rows of a table refer to rows of another. */
export const referencesOf = (table: Table): { readonly column: string; readonly entity: ChangedEntity }[] => [
  ...(table.entity === 'cooperatives' ? [] : [{ column: 'cooperative_id', entity: 'cooperatives' } as const]),
  ...(table.owner === undefined ? [] : [table.owner]),
];

/** SQL of the cooperative of a row. @param row its alias */
export const cooperativeSql = (entity: ChangedEntity, row: string): string =>
  entity === 'cooperatives' ? `${row}.id` : `${row}.cooperative_id`;

/** SQL of the member to whom a row belongs. @param row its alias */
export function memberSql(entity: OwnedEntity, row: string): string {
  const { column, entity: owner } = tableOf(entity).owner as NonNullable<Table['owner']>;
  return memberOfOwnerSql(owner, `${row}.${column}`);
}

/** The same for the id of what the row is part of. */
export const memberOfOwnerSql = (owner: ChangedEntity, id: string): string =>
  owner === 'members' ? id : `(SELECT member_id FROM main.${tableOf(owner).table} WHERE id = ${id})`;

/** SELECT of the ids of rows that belong to members. @param members SQL of their ids, as `IN` takes them */
export function ownedIdsSql(entity: OwnedEntity, members: string): string {
  const { table, owner } = tableOf(entity) as Required<Table>;
  const owners = owner.entity === 'members' ? members : ownedIdsSql(owner.entity as OwnedEntity, members);
  return `SELECT id FROM main.${table} WHERE ${owner.column} IN (${owners})`;
}

/** FROM of the rows `e` that belong to members `m`, which the caller has named before: few of them. */
export function joinOwnedSql(entity: OwnedEntity): string {
  const { table, owner } = tableOf(entity) as Required<Table>;
  if (owner.entity === 'members') return `CROSS JOIN main.${table} e ON e.${owner.column} = m.id`;
  return `CROSS JOIN main.${tableOf(owner.entity).table} o ON o.member_id = m.id
    CROSS JOIN main.${table} e ON e.${owner.column} = o.id`;
}

/** The names of declared fields: those of bodies and import files. */
const FIELD_NAMES: ReadonlyMap<string, string> = new Map(
  FILE_FIELDS.flatMap(listFields).map(({ column, name }) => [column, name]),
);

/** The name of a column in the history. */
export const fieldOfColumn = (column: string): string => FIELD_NAMES.get(column) ?? column;

/** Computed again, or the time of the change itself. */
const NOT_RECORDED: readonly string[] = ['id', 'updated_at', ...READ_MODEL_COLUMNS];

export interface RecordedColumn {
  readonly column: string;
  /** Its name in the history. */
  readonly field: string;
}

/** Every column of a table but the id and what is computed: one that a later schema adds is recorded too. */
export function recordedColumns(db: Connection, { table }: Pick<Table, 'table'>): RecordedColumn[] {
  const columns = db.raw.pragma(`main.table_info(${table})`) as { name: string }[];
  return columns
    .filter(({ name }) => !NOT_RECORDED.includes(name))
    .map(({ name }) => ({ column: name, field: fieldOfColumn(name) }));
}
