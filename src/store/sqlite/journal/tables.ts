/** The tables whose rows corrections change, with all their columns. */
import type { EventEntity } from '../../../domain/events.ts';
import { CHANGED_ENTITIES, type ChangedEntity } from '../../ports/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { READ_MODEL_COLUMNS } from '../schema/stale-flag.ts';

export interface ChangedTable {
  readonly entity: ChangedEntity;
  readonly table: string;
  /** Column of what people call a row. */
  readonly label: string;
  /** Undefined where rows have no events of their own. */
  readonly event?: EventEntity;
  readonly hasTimestamps: boolean;
  /** Sets of columns, beside the id, that no two rows share. */
  readonly unique: readonly (readonly string[])[];
}

const inCooperative = (...columns: readonly string[]) => columns.map((column) => ['cooperative_id', column]);

const TABLES: { readonly [entity in ChangedEntity]: Omit<ChangedTable, 'entity'> } = {
  cooperatives: {
    ...{ table: 'cooperatives', label: 'code', event: 'cooperative', hasTimestamps: true },
    unique: [['code']],
  },
  members: {
    ...{ table: 'members', label: 'member_code', event: 'member', hasTimestamps: true },
    unique: inCooperative('identity_card', 'member_code'),
  },
  production: {
    ...{ table: 'production_entries', label: 'reference', hasTimestamps: false },
    unique: inCooperative('reference'),
  },
  loans: {
    ...{ table: 'loans', label: 'reference', event: 'loan', hasTimestamps: true },
    unique: inCooperative('reference'),
  },
  payments: {
    ...{ table: 'payments', label: 'reference', event: 'payment', hasTimestamps: true },
    unique: inCooperative('reference'),
  },
  accounts: {
    ...{ table: 'savings_accounts', label: 'account_number', hasTimestamps: false },
    unique: inCooperative('account_number'),
  },
  savings: {
    ...{ table: 'savings_transactions', label: 'reference', hasTimestamps: false },
    unique: inCooperative('reference'),
  },
};

/** In the order in which later ones refer to earlier ones. */
export const CHANGED_TABLES: readonly ChangedTable[] = CHANGED_ENTITIES.map((entity) => ({
  entity,
  ...TABLES[entity],
}));

export const changedTable = (entity: ChangedEntity): ChangedTable => ({ entity, ...TABLES[entity] });

/** Columns that are recorded under the names of bodies and import files. */
const FIELD_NAMES: { readonly [column: string]: string } = {
  grams: 'kg',
  amount_minor: 'amount',
  interest_rate_hundredths: 'interest_rate',
  paid_amount_minor: 'paid_amount',
  opening_balance_minor: 'opening_balance',
};

/** Computed again, or the time of the correction itself. */
const NOT_RECORDED: readonly string[] = ['id', 'updated_at', ...READ_MODEL_COLUMNS];

export interface RecordedColumn {
  readonly column: string;
  /** Its name in the history. */
  readonly field: string;
}

/** Every column of a table but the id and what is computed: one that a later schema adds is recorded too. */
export function recordedColumns(db: Connection, { table }: ChangedTable): RecordedColumn[] {
  const columns = db.raw.pragma(`main.table_info(${table})`) as { name: string }[];
  return columns
    .filter(({ name }) => !NOT_RECORDED.includes(name))
    .map(({ name }) => ({ column: name, field: FIELD_NAMES[name] ?? name }));
}
