/** A registry with as many rows of everything that is listed as a test asks for. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type ImportPlace, importPlace, LOANS_HEADER, nid, SAVINGS_HEADER } from './importing.ts';
import { type Connection, keysFileOf, openFile } from './sqlite.ts';
import { ledgerPlaceIn, reading } from './sqlite-ledger.ts';

/** Adds copies of the newest row, which differ in their id and in what is said. */
function copyRow(
  db: Connection,
  table: string,
  copies: number,
  differing: { [column: string]: string } = {},
) {
  const columns = (db.raw.pragma(`table_info(${table})`) as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== 'id');
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
    INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${columns.map((name) => differing[name] ?? name).join(', ')}
    FROM n, (SELECT * FROM ${table} ORDER BY rowid DESC LIMIT 1) WHERE i <= ${copies}`);
}

const letters = (n: number): string =>
  [...((n * 7_919) % 100_000).toString().padStart(5, '0')]
    .map((digit) => 'abcdefghij'[Number(digit)])
    .join('');

/** Each number has its own, far from that of the next. */
const birthday = (n: number): string =>
  new Date(Date.UTC(1920, 0, 1 + ((n * 7_919) % 36_500))).toISOString().slice(0, 10);

/**
 * Members, deliveries, loans, savings and readings are all of one cooperative or person, so that each list is
 * as long as it can be.
 */
export async function rowsOfEverything(context: TestContext, rows: number): Promise<ImportPlace> {
  const place = importPlace(context);
  assert.equal((await place.command('summarize')).status, 0);
  if (rows === 0) return place;
  const numbers = Array.from({ length: rows }, (_, i) => i + 1);
  const load = async (kind: string, header: string, lines: readonly string[]) => {
    const { status, err } = await place.load(kind, `${[header, ...lines].join('\n')}\n`, '--yes');
    assert.equal(status, 0, err);
  };
  await load(
    'cooperatives',
    'code,name',
    numbers.map((n) => `C-${n},Cooperative ${n}`),
  );
  const members = 'cooperative_code,identity_card,member_code,full_name,mobile,date_of_birth';
  // Two by two they may be one person: of one name, phone and day of birth.
  const member = (n: number, born: string) =>
    `C-1,${nid(n)},M-${n},Keza ${letters(n >> 1)},07800${String(10_000 + (n >> 1))},${born}`;
  await load(
    'members',
    members,
    numbers.map((n) => member(n, '')),
  );
  await load(
    'members',
    members,
    numbers.map((n) => member(n, birthday(n >> 1))),
  );
  // Their memberships contradict each other.
  if (rows > 1) await load('members', members, [`C-2,${nid(1)},M-1,Mukamana Esperance,,1950-01-01`]);
  const entries = 'cooperative_code,member_code,reference';
  await load(
    'production',
    `${entries},delivered_at,kg`,
    numbers.map((n) => `C-1,M-1,P-${n},2025-01-02,${n}.5`),
  );
  await load(
    'loans',
    LOANS_HEADER,
    numbers.map((n) => `C-1,M-1,L-${n},${n}00000,10,approved,,2024-01-02,2026-01-02,2024-01-02`),
  );
  const payments = 'cooperative_code,loan_reference,reference,amount,method,paid_at';
  await load(
    'payments',
    payments,
    numbers.map((n) => `C-1,L-1,Y-${n},1,cash,2025-01-02`),
  );
  await load(
    'savings',
    SAVINGS_HEADER,
    numbers.map((n) => `C-1,M-1,S-1,T-${n},contribution,100,2025-01-02`),
  );
  await issueKeys(place);
  copyRows(place, rows - 1);
  await recordReadings(place, rows);
  return place;
}

async function issueKeys(place: ImportPlace): Promise<void> {
  const scopes = ['--scope', 'members:read,webhooks:receive'];
  const hook = ['--key', '1', '--url', 'http://127.0.0.1:9/', '--allow-private'];
  for (const args of [
    ['keys', 'create', '--name', 'follower', ...scopes],
    ['webhooks', 'add', ...hook],
  ]) {
    const { status, err } = await place.command(...args);
    assert.equal(status, 0, err);
  }
}

/** Of what only one command at a time makes. */
function copyRows({ databaseFile }: ImportPlace, copies: number): void {
  const registry = openFile(databaseFile);
  const end = registry.value<number>('SELECT coalesce(max(id), 0) FROM changes');
  copyRow(registry, 'operations', copies, { first_change: String(end + 1), last_change: String(end) });
  registry.exec(`INSERT INTO imported_files (operation_id, file_name, sha256, unchanged, kept, refused_rows)
    SELECT id, 'members.csv', '', 0, 0, 0 FROM operations
    WHERE id NOT IN (SELECT operation_id FROM imported_files)`);
  registry.exec(`INSERT INTO changes (entity, row_id, field, old, new, at, actor)
    VALUES ('members', 1, 'mobile', '+250780000001', '+250780000002', 1749900000, 'key:1')`);
  copyRow(registry, 'changes', copies);
  registry.close();
  const webhooks = openFile(databaseFile.replace(/\.db$/, '.webhooks.db'));
  webhooks.exec(`INSERT INTO webhook_attempts
      (endpoint_id, webhook_id, type, sequence, at, status, duration_ms)
    VALUES (1, 'msg', 'member.updated', 1, 1750000000000, 500, 10)`);
  copyRow(webhooks, 'webhook_attempts', copies);
  copyRow(webhooks, 'webhook_endpoints', copies);
  webhooks.close();
  const keys = openFile(keysFileOf(databaseFile));
  copyRow(keys, 'api_keys', copies, { name: "'key ' || i" });
  keys.exec(`INSERT INTO api_key_secrets (hash, key_id, prefix, created_at)
    SELECT randomblob(32), id, 'crs_00000000', created_at FROM api_keys
    WHERE id NOT IN (SELECT key_id FROM api_key_secrets)`);
  keys.close();
}

async function recordReadings(place: ImportPlace, rows: number): Promise<void> {
  const ledger = ledgerPlaceIn(place.folder).openLedger();
  const read = reading({
    reader: { keyId: 1 },
    subject: { identityCards: [nid(1)], memberIds: [1] },
    timeMs: place.clock.now(),
  });
  await ledger.record(Array.from({ length: rows }, () => read));
  await ledger.close();
}
