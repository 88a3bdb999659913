/** Checks of the database files that an operator asks for: they read everything and change nothing. */
import { existsSync } from 'node:fs';
import type { BlockTexts } from '../../domain/lookup.ts';
import { type Connection, openDatabase } from './connection/connection.ts';
import { KEYS_SCHEMA, migrate, REGISTRY_SCHEMA } from './connection/migrations.ts';
import { COUNTER_CHECKS } from './lists/member-counts.ts';
import { countUnsummarized, findWrongSummary } from './read-model/verify.ts';

export interface Finding {
  readonly check: string;
  /** Null when the check passed. */
  readonly fault: string | null;
  /** What was counted or read. */
  readonly value?: string;
}

const BUSY_TIMEOUT_MS = 10_000;
const COUNTED = [
  'cooperatives',
  'members',
  'production_entries',
  'loans',
  'savings_accounts',
  'savings_transactions',
] as const;

/** @throws DatabaseFileError when a file is no database of ours */
export function checkDatabase(databaseFile: string, keysFile: string, blocks: BlockTexts): Finding[] {
  const registry = openDatabase(databaseFile, { busyTimeoutMs: BUSY_TIMEOUT_MS, tempStore: 'FILE' });
  try {
    migrate(registry, REGISTRY_SCHEMA);
    // One snapshot for all: rows and counters must be of the same moment.
    registry.exec('BEGIN');
    const whole = checkFile('registry', registry);
    if (whole.length === 1) return [...whole, ...checkKeys(keysFile)];
    const findings = [
      ...whole,
      ...COUNTER_CHECKS.map(({ name, sql }): Finding => {
        const wrong = registry.raw.prepare(sql).get();
        return { check: name, fault: wrong === undefined ? null : `wrong: ${JSON.stringify(wrong)}` };
      }),
      {
        check: 'summaries still to be computed',
        fault: null,
        value: String(countUnsummarized(registry, blocks)),
      },
      checkSummaries(registry, blocks),
      ...COUNTED.map((table): Finding => {
        const count = registry.raw.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
        return { check: `rows of ${table}`, fault: null, value: String(count) };
      }),
    ];
    registry.exec('COMMIT');
    return [...findings, ...checkKeys(keysFile)];
  } finally {
    registry.close();
  }
}

function checkSummaries(registry: Connection, blocks: BlockTexts): Finding {
  const wrong = findWrongSummary(registry, blocks);
  return { check: 'summaries of entries', fault: wrong === undefined ? null : `wrong: ${wrong}` };
}

function checkKeys(keysFile: string): Finding[] {
  if (!existsSync(keysFile)) return [{ check: 'keys', fault: null, value: 'no keys yet' }];
  const keys = openDatabase(keysFile, { busyTimeoutMs: BUSY_TIMEOUT_MS });
  try {
    migrate(keys, KEYS_SCHEMA);
    const whole = checkFile('keys', keys);
    if (whole.length === 1) return whole;
    const count = keys.raw.prepare('SELECT count(*) FROM api_keys').pluck().get();
    return [...whole, { check: 'rows of api_keys', fault: null, value: String(count) }];
  } finally {
    keys.close();
  }
}

function checkFile(name: string, db: Connection): Finding[] {
  const integrity = checkIntegrity(db);
  // What stands in a damaged file need not be asked.
  if (integrity !== 'ok') return [{ check: `${name}: integrity`, fault: integrity }];
  const dangling = db.raw.pragma('foreign_key_check') as { table: string; rowid: number }[];
  const wrong = db.wrongSettings();
  const first = dangling[0];
  return [
    { check: `${name}: integrity`, fault: null },
    {
      check: `${name}: foreign keys`,
      fault:
        first === undefined
          ? null
          : `${dangling.length} rows refer to nothing, first row ${first.rowid} of ${first.table}`,
    },
    { check: `${name}: settings`, fault: wrong.length === 0 ? null : wrong.join(', ') },
  ];
}

/** `ok`, or what is wrong; some damage SQLite reports as an error. */
function checkIntegrity(db: Connection): string {
  try {
    return db.raw.pragma('integrity_check(1)', { simple: true }) as string;
  } catch (error) {
    return (error as Error).message;
  }
}
