/**
 * What triggers do for each new row, done once for many: a large import drops the triggers while it inserts.
 * Every trigger on the insert of rows that files bring is in one of these groups.
 */
import type { Connection } from '../engine/connection.ts';
import { markStaleSql, type ReadModelColumn } from '../schema/stale-flag.ts';
import { leaveUnindexed } from '../search/index-names.ts';
import { addNewRows } from '../statistics/stored-totals.ts';

/** Rows that were inserted while the triggers of their table were dropped. */
export interface AddedRows {
  readonly table: string;
  /** A condition on members: some of the rows are theirs. */
  readonly members: string;
}

export interface TriggerGroup {
  readonly has: (trigger: string, table: string) => boolean;
  /** Does what the triggers would have done for the rows. */
  readonly twin: (db: Connection, rows: AddedRows) => void;
}

const STALE: { readonly [table: string]: ReadModelColumn } = {
  production_entries: 'production',
  loans: 'loans',
  savings_transactions: 'savings',
};

export const TRIGGER_GROUPS: readonly TriggerGroup[] = [
  {
    has: (trigger, table) => trigger === `${table}_batched`,
    twin(db, { table }) {
      if (table === 'members') leaveUnindexed(db);
      addNewRows(db, table);
    },
  },
  {
    has: (trigger) => trigger === 'cooperative_names_added',
    twin: (db) => db.exec("INSERT INTO main.cooperative_names (cooperative_names) VALUES ('rebuild')"),
  },
  {
    has: (trigger, table) => table in STALE && trigger === `${table}_insert`,
    twin: (db, { table, members }) => db.exec(markStaleSql(STALE[table] as ReadModelColumn, members)),
  },
];

/** A condition on a trigger in the schema: it runs for new rows. */
export const IS_ON_INSERT = "sql GLOB '* INSERT ON *'";

/** @throws Error for a trigger whose work a large import would leave out */
export function groupOf(trigger: string, table: string): TriggerGroup {
  const group = TRIGGER_GROUPS.find(({ has }) => has(trigger, table));
  if (group !== undefined) return group;
  throw new Error(`The trigger ${trigger} on ${table} has no set-based twin. Declare one in TRIGGER_GROUPS.`);
}
