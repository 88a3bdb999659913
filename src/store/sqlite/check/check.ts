/** Checks of the database files that an operator asks for: they read everything and change nothing. */
import type { Finding } from '../../contract/storage.ts';
import type { Connection } from '../engine/connection.ts';
import { isDamaged } from '../engine/errors.ts';
import type { Schema } from '../engine/migrate.ts';
import { hasTables, withDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { erasuresFileOf, keysFileOf, webhooksFileOf } from '../files/registry-files.ts';
import { type Erasures, erasedSince, readErasures } from '../identity/erasures.ts';
import { hasLedger } from '../ledger/ledger-files.ts';
import { openLedgerReader } from '../ledger/ledger-reader.ts';
import { COUNT_CHECKS } from '../lists/count-checks.ts';
import type { ReadModelFormat } from '../read-model/format.ts';
import { countOutOfDate, findWrongColumn } from '../read-model/verify.ts';
import { ERASURES_SCHEMA } from '../schema/migrations/erasures.ts';
import { KEYS_SCHEMA } from '../schema/migrations/keys.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { WEBHOOKS_SCHEMA } from '../schema/migrations/webhooks.ts';
import { TOTALS_CHECKS } from '../statistics/stored-totals.ts';
import { EVENT_CHECKS } from './event-checks.ts';
import { checkNames } from './name-checks.ts';
import { LOAN_CHECKS, OPERATION_CHECKS, REDIRECT_CHECKS } from './row-checks.ts';

/** Tables whose rows say how large a registry is. */
export const COUNTED = [
  'cooperatives',
  'members',
  'production_entries',
  'loans',
  'payments',
  'savings_accounts',
  'savings_transactions',
] as const;

/** What must agree with the rows, or with each other: each query finds one that is wrong. */
const AGREEMENTS = [
  ...COUNT_CHECKS,
  ...TOTALS_CHECKS,
  ...REDIRECT_CHECKS,
  ...LOAN_CHECKS,
  ...OPERATION_CHECKS,
  ...EVENT_CHECKS,
];

/** @throws StorageError when a file is not a database of this release */
export function checkFiles(databaseFile: string, format: ReadModelFormat): Finding[] {
  const registry = checkFile('registry', databaseFile, REGISTRY_SCHEMA, (db) => [
    ...checkRegistry(db, format),
    ...checkErasures(db, erasuresFileOf(databaseFile)),
  ]);
  const keys = checkKeys(keysFileOf(databaseFile));
  return [...registry, ...keys, ...checkWebhooks(webhooksFileOf(databaseFile)), ...checkLedger(databaseFile)];
}

/**
 * Checks the file itself, and what it holds if it is not damaged: nothing that is read from a damaged one can
 * be relied on.
 */
function checkFile(
  name: string,
  file: string,
  schema: Schema,
  checkRows: (db: Connection) => Finding[],
): Finding[] {
  const check = `${name}: integrity`;
  try {
    return withDatabase(
      file,
      { readOnly: true, schema, waitMs: WAIT_MS.command, tempStore: 'FILE' },
      // One snapshot for all: rows and counters must be of the same moment.
      (db) =>
        db.transaction.deferred(() => {
          const integrity = checkIntegrity(db);
          if (integrity !== 'ok') return [{ check, fault: integrity }];
          return [{ check, fault: null }, ...checkForm(name, db), ...checkRows(db)];
        }),
    );
  } catch (error) {
    const { cause, message } = error as Error;
    if (isDamaged(cause)) return [{ check, fault: message }];
    throw error;
  }
}

function checkRegistry(registry: Connection, format: ReadModelFormat): Finding[] {
  const agreements = AGREEMENTS.map(({ name, sql }): Finding => {
    const wrong = registry.row(sql);
    return { check: name, fault: wrong === undefined ? null : `wrong: ${JSON.stringify(wrong)}` };
  });
  const wrong = findWrongColumn(registry, format);
  const rows = COUNTED.map((table): Finding => {
    const count = registry.count(table);
    return { check: `rows of ${table}`, fault: null, value: String(count) };
  });
  return [
    ...agreements,
    { check: 'read model out of date', fault: null, value: String(countOutOfDate(registry, format)) },
    { check: 'read model', fault: wrong === undefined ? null : `wrong: ${wrong}` },
    ...checkNames(registry),
    ...rows,
  ];
}

/** Whether the registry and the file of erasures know the same ones. */
function checkErasures(registry: Connection, file: string): Finding[] {
  const known = readErasures(registry);
  const none = { secrets: [], erasedAt: new Map() };
  if (!hasTables(file)) return [compareErasures(known, none)];
  return checkFile('erasures', file, ERASURES_SCHEMA, (db) => [compareErasures(known, readErasures(db))]);
}

function compareErasures(known: Erasures, kept: Erasures): Finding {
  const [missing, unknown] = [erasedSince(known, kept).length, erasedSince(kept, known).length];
  const faults = [
    ...(missing === 0 ? [] : [`${missing} are only in the registry`]),
    ...(unknown === 0 ? [] : [`${unknown} are only in the file of erasures`]),
  ];
  const fault = faults.length === 0 ? null : `wrong: ${faults.join(', ')}`;
  return { check: 'hashes of erased persons', fault, value: String(known.erasedAt.size) };
}

function checkKeys(keysFile: string): Finding[] {
  if (!hasTables(keysFile)) return [{ check: 'keys', fault: null, value: 'no keys yet' }];
  return checkFile('keys', keysFile, KEYS_SCHEMA, (keys) => [
    { check: 'rows of api_keys', fault: null, value: String(keys.count('api_keys')) },
  ]);
}

/** Nothing is said of a registry without endpoints. */
function checkWebhooks(file: string): Finding[] {
  if (!hasTables(file)) return [];
  return checkFile('webhooks', file, WEBHOOKS_SCHEMA, (webhooks) => [
    { check: 'rows of webhook_endpoints', fault: null, value: String(webhooks.count('webhook_endpoints')) },
  ]);
}

function checkLedger(databaseFile: string): Finding[] {
  if (!hasLedger(databaseFile)) return [];
  const { entries, faults } = openLedgerReader(databaseFile).verify();
  return [
    { check: 'access ledger', isOfLedger: true, fault: faults[0] ?? null, value: `${entries} readings` },
  ];
}

function checkForm(name: string, db: Connection): Finding[] {
  const dangling = db.raw.pragma('foreign_key_check') as { table: string; rowid: number }[];
  const wrong = db.wrongSettings();
  const first = dangling[0];
  return [
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
