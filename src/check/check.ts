/** The `check` command: verifies all files of a registry without changing them (docs/trouble.md#check). */

import type { Command } from 'commander';
import { listAllFiles } from '../ledger/ledger-files.ts';
import { openLedgerReader } from '../ledger/ledger-reader.ts';
import {
  EVENT_ACTIONS,
  EVENT_ENTITIES,
  EVENT_FIELDS,
  EVENT_TYPES,
  typeCode,
} from '../registry/changes/event-types.ts';
import { type ReadModelColumn, TABLES } from '../registry/changes/tables.ts';
import { type ProductionSummary, subtractExpired } from '../registry/recent-deliveries.ts';
import { type Erasures, erasedSince, readErasures } from '../registry/stored/erasures.ts';
import { FIRST_UNINDEXED, wordsOnlySql } from '../registry/stores/name-index.ts';
import {
  formatOf,
  IS_OUT_OF_DATE,
  openFinancials,
  type ReadModelFormat,
  type StoredColumns,
  unpack,
  unpackExpiring,
  unpackProduction,
} from '../registry/stores/read-model.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { COUNT_CHECKS, type CountCheck } from '../sqlite/counts.ts';
import { nextSql } from '../sqlite/declared-totals.ts';
import { hasTables, openTemporary, type Schema, withDatabase } from '../sqlite/open-database.ts';
import { erasuresFileOf, keysFileOf, webhooksFileOf } from '../sqlite/registry-files.ts';
import { ERASURES_SCHEMA, KEYS_SCHEMA, REGISTRY_SCHEMA, WEBHOOKS_SCHEMA } from '../sqlite/schemas.ts';
import { isDamaged } from '../sqlite/sqlite-errors.ts';
import type { Storage } from '../sqlite/storage.ts';
import { TOTALS_CHECKS } from '../sqlite/stored-totals.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatRows } from '../terminal/output.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';

type Row = StoredColumns & { readonly id: number };

const READ_MODEL_TABLES = [
  ['production', 'production_entries'],
  ['loans', 'loans'],
  ['savings', 'savings_accounts'],
] as const satisfies [ReadModelColumn, string][];

/** Counts members whose read model is stale or has an old format. Lookups of these members are slower. */
export const countOutOfDate = (db: Connection, { version }: ReadModelFormat): number =>
  db.count(`members WHERE ${IS_OUT_OF_DATE}`, { version });

/** Returns a description of the first wrong column. Ignores stale and outdated columns. */
function findWrongColumn(db: Connection, { version, zone }: ReadModelFormat): string | undefined {
  for (const [column, table] of READ_MODEL_TABLES) {
    const without = db.value<number | undefined>(
      `SELECT DISTINCT e.member_id FROM ${table} e CROSS JOIN members m ON m.id = e.member_id
       WHERE m.${column} IS NULL LIMIT 1`,
    );
    if (without !== undefined) return `${column} of member ${without}, which has entries, is missing`;
  }
  const financials = openFinancials(db, zone);

  function isProductionRight({ id, production }: Row): boolean {
    const content = production === null ? undefined : unpack(production, version);
    if (content === undefined) return true;
    const stored = unpackProduction(content);
    const { validFrom, validUntil } = stored;
    const { expiring, knownUntil } = unpackExpiring(content);
    const isRightAt = (at: number, summary: ProductionSummary): boolean =>
      toText(summary) === toText(financials.productionOf(id, at));
    const lastListed = knownUntil === null ? (expiring.at(-1)?.expiresAt ?? validFrom) : knownUntil - 1;
    return (
      isRightAt(validFrom, stored) &&
      (validUntil === null || isRightAt(validUntil - 1, stored)) &&
      isRightAt(lastListed, subtractExpired(stored, expiring, lastListed))
    );
  }

  const isRight = (column: string | null, compute: () => string): boolean => {
    const text = column === null ? undefined : unpack(column, version);
    return text === undefined || text === compute();
  };
  const rows = db.iterate<Row>(
    `SELECT id, production, loans, savings FROM members
     WHERE production IS NOT NULL OR loans IS NOT NULL OR savings IS NOT NULL ORDER BY id`,
  );
  for (const row of rows) {
    const { id, loans, savings } = row;
    if (!isProductionRight(row)) return `production of member ${id}`;
    if (!isRight(loans, () => financials.loanHistoryOf(id))) return `loans of member ${id}`;
    if (!isRight(savings, () => financials.savingsOf(id))) return `savings of member ${id}`;
  }
  return undefined;
}

/** Formats a summary as text, in which a bigint equals a number with the same value. */
const toText = ({ entriesCount, totalGrams, lastDeliveryAt }: ProductionSummary): string =>
  `${entriesCount} ${totalGrams} ${lastDeliveryAt}`;

export interface Finding {
  readonly check: string;
  /** True for a finding about the access ledger. No other file depends on the ledger. */
  readonly isOfLedger?: true;
  /** Null if the check passed. */
  readonly fault: string | null;
  readonly value?: string;
}

const finding = (check: string, fault: string | undefined): Finding => ({
  check,
  fault: fault === undefined ? null : `wrong: ${fault}`,
});

const counted = (check: string, count: number): Finding => ({ check, fault: null, value: String(count) });

// Each query below returns an inconsistent row, or nothing.

const LOAN_CHECKS: readonly CountCheck[] = [
  {
    name: 'paid amounts of loans',
    sql: `SELECT l.id, l.paid_amount_minor AS paid, l.opening_balance_minor AS opening_balance,
        coalesce(p.recorded, 0) AS recorded
      FROM loans l LEFT JOIN (SELECT loan_id, sum(amount_minor) AS recorded FROM payments
        WHERE status = 'recorded' GROUP BY loan_id) p ON p.loan_id = l.id
      WHERE l.paid_amount_minor <> l.opening_balance_minor + coalesce(p.recorded, 0) LIMIT 1`,
  },
  {
    name: 'cooperatives of loans',
    sql: `SELECT l.id, l.cooperative_id FROM loans l CROSS JOIN members m ON m.id = l.member_id
      WHERE l.cooperative_id <> m.cooperative_id LIMIT 1`,
  },
  {
    name: 'cooperatives of payments',
    sql: `SELECT p.id, p.cooperative_id FROM payments p CROSS JOIN loans l ON l.id = p.loan_id
      WHERE p.cooperative_id <> l.cooperative_id LIMIT 1`,
  },
];

/** Checks that each redirect in force leads from a former identifier, now unused, to a current one. */
const REDIRECT_CHECKS: readonly CountCheck[] = [
  {
    name: 'replaced national IDs',
    sql: `SELECT r.correction_id FROM replaced_identity_cards r WHERE r.ended_by IS NULL AND (
        EXISTS (SELECT 1 FROM members m WHERE m.identity_card = r.old)
        OR NOT EXISTS (SELECT 1 FROM members m WHERE m.identity_card = r.new)
        OR EXISTS (SELECT 1 FROM former_identity_cards n WHERE n.old = r.new))
      LIMIT 1`,
  },
  {
    name: 'merged members',
    sql: `SELECT r.id, r.into_id FROM former_members r WHERE (
        EXISTS (SELECT 1 FROM members m WHERE m.id = r.id)
        OR NOT EXISTS (SELECT 1 FROM members m WHERE m.id = r.into_id))
      LIMIT 1`,
  },
];

const ROWS = TABLES.map(
  ({ entity, table }) =>
    `WHEN '${entity}' THEN (SELECT count(*) FROM ${table} WHERE id BETWEEN r.first_row AND r.last_row)`,
);

/** Checks that the journal agrees with the rows. Rows of an operation may have been removed since. */
const OPERATION_CHECKS: readonly CountCheck[] = [
  {
    name: 'rows of imports',
    sql: `SELECT o.id, r.entity, o.created FROM created_rows r
      CROSS JOIN operations o ON o.id = r.operation_id
      WHERE (o.undone_at IS NOT NULL AND CASE r.entity ${ROWS.join(' ')} END > 0)
        OR (r.entity = o.kind AND o.created <> r.last_row - r.first_row + 1) LIMIT 1`,
  },
  {
    name: 'changes of imports',
    // Savings accounts are not counted: an import creates and removes them along with their transactions.
    sql: `SELECT id, changed, rows FROM (
        SELECT o.id, o.changed + coalesce(f.removed, 0) AS changed,
          (SELECT count(DISTINCT c.entity || c.row_id) FROM changes c
           WHERE c.id BETWEEN o.first_change AND o.last_change
             AND (c.actor = 'correction:' || o.id
               OR c.actor = 'import:' || o.id AND c.entity <> 'accounts')) AS rows
        FROM operations o LEFT JOIN imported_files f ON f.operation_id = o.id)
      WHERE rows <> changed LIMIT 1`,
  },
];

const UPDATED = EVENT_ACTIONS.indexOf('updated');
/** SQL WHEN clauses that give, for each entity, the lowest invalid bit mask of changed fields. */
const BEYOND_FIELDS = EVENT_ENTITIES.map(
  (entity, i) => `WHEN ${i} THEN ${2 ** EVENT_FIELDS[entity].length}`,
).join(' ');

/** SQL list of entities with events, by their names in the history, in the order of the event types. */
const ENTITIES = EVENT_ENTITIES.map((entity) => `'${entity}s'`).join(', ');
/** SQL list of entities whose changes appear in events of a member. The member may have been merged since. */
const PARTS = "'production', 'savings'";
/** SQL condition: the change `c` is recent enough to have an event, but has none. */
const LACKS_EVENT = `c.at >= coalesce((SELECT at FROM events ORDER BY sequence LIMIT 1), 0)
  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.at = c.at
    AND iif(c.entity IN (${PARTS}), e.type = ${typeCode('member', 'updated')}, e.row_id = c.row_id
      AND json_array(${ENTITIES}) ->> (e.type / ${EVENT_ACTIONS.length}) = c.entity))`;

/** SELECT of the newest change over HTTP. Without the `+`, SQLite would read all changes, by an index. */
const LAST_BY_KEY = `SELECT id FROM changes WHERE actor GLOB 'key:*' AND +entity IN (${ENTITIES}, ${PARTS})
  ORDER BY id DESC LIMIT 1`;

export const EVENT_CHECKS: readonly CountCheck[] = [
  {
    name: 'sequence of events',
    sql: `SELECT * FROM (
        SELECT min(sequence) AS first, max(sequence) AS last, count(*) AS events FROM events)
      WHERE events <> coalesce(last - first + 1, 0)
        OR coalesce(last, 0) < (SELECT max(last_sequence) FROM operation_events)
        OR (SELECT ${LACKS_EVENT} FROM changes c WHERE c.id = (${LAST_BY_KEY}))`,
  },
  {
    name: 'epoch of events',
    sql: "SELECT count(*) AS epochs FROM feed WHERE epoch <> '' HAVING epochs <> 1",
  },
  {
    name: 'events of operations',
    sql: `SELECT o.actor FROM operation_events o
      CROSS JOIN events e ON e.sequence IN (o.first_sequence, o.last_sequence)
      WHERE e.actor <> o.actor LIMIT 1`,
  },
  {
    name: 'rows of events',
    sql: `SELECT sequence FROM events WHERE type NOT BETWEEN 0 AND ${EVENT_TYPES.length - 1}
        OR row_id < 1 OR cooperative_id < 1 OR actor < 0 OR fields < 0
        OR (fields > 0 AND type % ${EVENT_ACTIONS.length} <> ${UPDATED})
        OR fields >= CASE type / ${EVENT_ACTIONS.length} ${BEYOND_FIELDS} END
        OR (type <= ${typeCode('cooperative', 'deleted')} AND row_id <> cooperative_id)
      LIMIT 1`,
  },
];

/** Schema of a temporary index of all names, with which the stored index of names is compared. */
const EXPECTED = {
  applicationId: 1,
  migrations: [
    `CREATE VIRTUAL TABLE expected ${wordsOnlySql(", content = ''")};
     CREATE VIRTUAL TABLE expected_words USING fts5vocab(expected, instance)`,
  ],
};

type Instance = readonly [word: string, id: number];

/** Iterates over the words of an index, in order. */
const wordsIn = (db: Connection, words: string): IterableIterator<Instance> =>
  db.raw.prepare(`SELECT term, doc FROM ${words}`).raw().iterate() as IterableIterator<Instance>;

function firstDifference(
  indexed: IterableIterator<Instance>,
  expected: IterableIterator<Instance>,
): number | undefined {
  try {
    for (;;) {
      const [one, other] = [indexed.next().value, expected.next().value];
      if (one?.[0] !== other?.[0] || one?.[1] !== other?.[1]) return (one ?? other)?.[1];
      if (one === undefined) return undefined;
    }
  } finally {
    indexed.return?.();
    expected.return?.();
  }
}

/** Returns the id of the first row with a missing or wrong word in the index. */
function firstWrong(registry: Connection, index: string, condition: string): number | undefined {
  const temporary = openTemporary(EXPECTED, { tempStore: 'FILE' });
  try {
    const insert = temporary.raw.prepare('INSERT INTO expected (rowid, words) VALUES (?, ?)');
    const names = registry.raw.prepare(`SELECT id, words FROM ${index}_source WHERE ${condition}`).raw();
    temporary.transaction.immediate(() => {
      for (const name of names.iterate()) insert.run(name);
    });
    return firstDifference(wordsIn(registry, `${index}_words`), wordsIn(temporary, 'expected_words'));
  } finally {
    temporary.close();
  }
}

export function checkNames(registry: Connection): Finding[] {
  const from = registry.value<number | undefined>(FIRST_UNINDEXED);
  const isNamed = `id < min(${from ?? 'id + 1'}, ${nextSql('members')})`;
  const missing = from === undefined ? 0 : registry.count('member_names_source WHERE id >= ?', [from]);
  const check = (table: string, id: number | undefined) =>
    finding(`names of ${table}`, id === undefined ? undefined : `index of row ${id}`);
  return [
    counted('names not indexed yet', missing),
    check('members', firstWrong(registry, 'member_names', isNamed)),
    check('cooperatives', firstWrong(registry, 'cooperative_names', 'true')),
  ];
}

/** Tables whose row counts show the size of a registry. */
export const COUNTED = [
  'cooperatives',
  'members',
  'production_entries',
  'loans',
  'payments',
  'savings_accounts',
  'savings_transactions',
] as const;

const AGREEMENTS = [
  ...COUNT_CHECKS,
  ...TOTALS_CHECKS,
  ...REDIRECT_CHECKS,
  ...LOAN_CHECKS,
  ...OPERATION_CHECKS,
  ...EVENT_CHECKS,
];

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
      // All checks see the same state of the file, because they run in one transaction.
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
  return [
    ...AGREEMENTS.map(({ name, sql }) => {
      const row = registry.row(sql);
      return finding(name, row === undefined ? undefined : JSON.stringify(row));
    }),
    counted('read model out of date', countOutOfDate(registry, format)),
    finding('read model', findWrongColumn(registry, format)),
    ...checkNames(registry),
    ...COUNTED.map((table) => counted(`rows of ${table}`, registry.count(table))),
  ];
}

function checkErasures(registry: Connection, file: string): Finding[] {
  const erasures = readErasures(registry);
  const compare = (saved: Erasures): Finding => {
    const [missing, unknown] = [erasedSince(erasures, saved).length, erasedSince(saved, erasures).length];
    const faults = [
      ...(missing === 0 ? [] : [`${missing} are only in the registry`]),
      ...(unknown === 0 ? [] : [`${unknown} are only in the file of erasures`]),
    ];
    const fault = faults.length === 0 ? undefined : faults.join(', ');
    return { ...finding('hashes of erased persons', fault), value: String(erasures.erasedAt.size) };
  };
  if (!hasTables(file)) return [compare({ secrets: [], erasedAt: new Map() })];
  return checkFile('erasures', file, ERASURES_SCHEMA, (db) => [compare(readErasures(db))]);
}

function checkLedger(databaseFile: string): Finding[] {
  if (listAllFiles(databaseFile).length === 0) return [];
  const { entries, faults } = openLedgerReader(databaseFile).verify();
  return [
    { check: 'access ledger', isOfLedger: true, fault: faults[0] ?? null, value: `${entries} readings` },
  ];
}

function checkForm(name: string, db: Connection): Finding[] {
  const dangling = db.raw.pragma('foreign_key_check') as { table: string; rowid: number }[];
  const [first] = dangling;
  const fault =
    first && `${dangling.length} rows refer to nothing, first row ${first.rowid} of ${first.table}`;
  const settings = db.wrongSettings();
  return [
    { check: `${name}: foreign keys`, fault: fault ?? null },
    { check: `${name}: settings`, fault: settings.length === 0 ? null : settings.join(', ') },
  ];
}

/** Returns `ok` or a description of the damage. For some kinds of damage, SQLite throws an error. */
function checkIntegrity(db: Connection): string {
  try {
    return db.raw.pragma('integrity_check(1)', { simple: true }) as string;
  } catch (error) {
    return (error as Error).message;
  }
}

/** @throws StorageError `unusable` if there is no registry of this release */
export function checkStorage(storage: Storage): readonly Finding[] {
  const file = storage.pathForOpening();
  const [keysFile, webhooksFile] = [keysFileOf(file), webhooksFileOf(file)];
  const checkRows = (table: string) => (db: Connection) => [counted(`rows of ${table}`, db.count(table))];
  return [
    ...checkFile('registry', file, REGISTRY_SCHEMA, (db) => [
      ...checkRegistry(db, formatOf(db, storage.configuredZone)),
      ...checkErasures(db, erasuresFileOf(file)),
    ]),
    ...(hasTables(keysFile)
      ? checkFile('keys', keysFile, KEYS_SCHEMA, checkRows('api_keys'))
      : [{ check: 'keys', fault: null, value: 'no keys yet' }]),
    ...(hasTables(webhooksFile)
      ? checkFile('webhooks', webhooksFile, WEBHOOKS_SCHEMA, checkRows('webhook_endpoints'))
      : []),
    ...checkLedger(file),
  ];
}

export function declareCheck(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(
    acting(context, (run) => {
      const checks = checkStorage(run.storage);
      const database = run.storage.location;
      const sound = checks.every(({ fault }) => fault === null);
      const result = `${database} is ${sound ? 'sound' : 'NOT sound'}.\n`;
      run.show({ database, sound, checks }, `${formatFindings(checks)}\n${result}`);
      const isDamaged = checks.some(({ check, fault }) => fault !== null && check.endsWith(': integrity'));
      const restore = typedCommand('restore DIR --replace', run.options.db);
      if (isDamaged) run.err(`The file is damaged. Restore the last backup: ${restore}\n`);
      if (!sound) throw new CommandError(EXIT.refused, '');
    }),
  );
}

export const formatFindings = (findings: readonly Finding[]): string =>
  formatRows(findings, {
    CHECK: 'check',
    RESULT: ({ fault, value }) => fault ?? (value === undefined ? 'ok' : `ok, ${value}`),
  });
