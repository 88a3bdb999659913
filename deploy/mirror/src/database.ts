/** The mirror's database: its connection, its lock, and the row that says how far it is. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { databaseFault } from './faults.ts';
import { CREATE_INCOMING } from './kinds.ts';
import { SCHEMA, SHAPE } from './tables.ts';

/** Bigints are texts unless they are parsed; sequences are far below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Any number: two mirrors of one database take the same. */
const LOCK = 7_246_301_118;
const LOCK_RETRY_MS = 2_000;
/** Ends a session whose mirror is gone, with its lock. */
const KEEP_ALIVE = `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;
  SET tcp_keepalives_count = 3; SET client_min_messages = warning;
  SET timezone = 'UTC'; SET search_path = pg_catalog;
  SET work_mem = '128MB'; SET maintenance_work_mem = '512MB'`;
/** Against settings of the role or database: pg reads dates of this style only, and a load takes its time. */
const READ_DATES = `SET datestyle = 'ISO'`;
const END_NOTHING = `SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('statement_timeout',
  'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout')`;

const READ_STATE = 'SELECT * FROM registry.mirror_state';
const NO_SUCH_TABLE = '42P01';

export interface State {
  readonly epoch: string | null;
  readonly sequence: number;
  /** By kind, the last event that is in its export: its earlier events say nothing new. */
  readonly loaded: { readonly [kind: string]: number };
  /** Of the release that has made the tables. */
  readonly shape: string | null;
  readonly must_vacuum: boolean;
  readonly must_count_accounts: boolean;
  readonly current_at: Date | null;
}

export type Changes = Partial<State> & {
  readonly utc_offset?: string | undefined;
  readonly last_event_at?: string | undefined;
  readonly lag_seconds?: number | undefined;
  readonly last_fault?: string;
  readonly last_fault_at?: Date;
};

export async function openDatabase(url: string, log: (line: string) => void, signal: AbortSignal) {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    application_name: 'registry mirror',
  });
  // It would end the process; the next statement reports it.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`${KEEP_ALIVE}; ${READ_DATES}; ${END_NOTHING}`);
    await lock(client, log, signal);
    const stored = await client.query(READ_STATE).catch((error) => {
      if (error.code !== NO_SUCH_TABLE) throw error;
    });
    if (stored?.rows[0]?.shape !== SHAPE) await client.query(`BEGIN; ${SCHEMA}; COMMIT`);
    await client.query(CREATE_INCOMING);
  } catch (error) {
    await client.end().catch(() => {});
    throw signal.aborted ? signal.reason : databaseFault(error);
  }
  return {
    client,

    query: (text: string, values: unknown[] = []) => client.query(text, values),

    async state(): Promise<State> {
      return (await client.query(READ_STATE)).rows[0] as State;
    },

    /** Part of the transaction under way, if there is one. */
    async setState(changes: Changes): Promise<void> {
      const given = Object.entries(changes).filter(([, value]) => value !== undefined);
      const assignments = given.map(([name], i) => `${name} = $${i + 1}`);
      const values = given.map(([, value]) => value);
      await client.query(`UPDATE registry.mirror_state SET ${assignments.join(', ')}`, values);
    },

    /** All that `work` does, or nothing. */
    async transaction(work: () => Promise<void>): Promise<void> {
      await client.query('BEGIN');
      try {
        await work();
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {});
        throw error;
      }
    },
  };
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** The lock is that of the session: it ends with the connection, and so does every transaction of its. */
async function lock(client: pg.Client, log: (line: string) => void, signal: AbortSignal): Promise<void> {
  for (let tries = 0; ; tries++) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS is_ours', [LOCK]);
    if (rows[0].is_ours) return;
    if (tries === 0) log('another mirror keeps this database: waiting until it ends');
    await sleep(LOCK_RETRY_MS, undefined, { signal });
  }
}
