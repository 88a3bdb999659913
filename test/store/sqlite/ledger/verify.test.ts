/** Faults that `verify` finds, each planted in the rows of a sound ledger. */
import assert from 'node:assert/strict';
import fs, { chmodSync, closeSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { findKeyAccesses } from '../../../../src/ledger/key-accesses.ts';
import { encodeAccesses } from '../../../../src/ledger/ledger-entries.ts';
import { openLedgerReader } from '../../../../src/ledger/ledger-reader.ts';
import { LedgerWriter } from '../../../../src/ledger/ledger-writer.ts';
import { openCommandLedger, readLedgerStatus } from '../../../../src/ledger/open-ledger.ts';
import { NOON } from '../../../support/app.ts';
import { openFile, REGISTRY_SCHEMA } from '../../../support/sqlite.ts';
import {
  allEntries,
  findReceipt,
  type LedgerPlace,
  ledgerNames,
  ledgerPlace,
  NID,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';

type Written = LedgerPlace & { readonly receipts: readonly string[] };

/** Four batches of two. */
async function writeLedger(context: TestContext): Promise<Written> {
  const place = ledgerPlace(context);
  const ledger = openCommandLedger(place.databaseFile);
  const receipts: string[] = [];
  for (let i = 0; i < 4; i++) receipts.push(...(await ledger.record([reading(), reading({ status: 404 })])));
  return Object.assign(place, { receipts });
}

function edit(file: string, ...statements: readonly string[]): void {
  const db = new Database(file);
  try {
    db.pragma('foreign_keys = OFF');
    for (const sql of statements) db.exec(sql);
  } finally {
    db.close();
  }
}

test('a ledger as it was written is sound, names its last hash, and has each receipt', async (context) => {
  const place = await writeLedger(context);
  const { entries, faults, chains } = verifyIn(place);
  assert.deepEqual([entries, faults, chains.length], [8, [], 1]);
  const { lastSequence, lastHash } = chains[0] as (typeof chains)[0];
  assert.equal(`${lastSequence}-${lastHash.slice(0, 32)}`, place.receipts.at(-1));
  for (const receipt of place.receipts) assert.equal(findReceipt(place, receipt).entry?.receipt, receipt);
  assert.match(findReceipt(place, `1-${'0'.repeat(32)}`).message, /^The ledger does not have/);
  assert.match(findReceipt(place, 'something').message, /^This is not a receipt/);
});

test('there is nothing to find in a registry without a ledger', (context) => {
  assert.deepEqual(verifyIn(ledgerPlace(context)), { entries: 0, chains: [], faults: [] });
});

const SECOND = 'ledger_batches WHERE id = 3';

/** Each fault with the number of entries that stay sound, the message, and the statements that plant it. */
const FAULTS: { readonly [what: string]: readonly [entries: number, said: RegExp, ...sql: string[]] } = {
  'an entry changed': [
    2,
    /Chain 1, after 2: the batch of 3 was changed/,
    `UPDATE ${SECOND.replace(' WHERE', " SET entries = replace(entries, '404', '200') WHERE")}`,
  ],
  'a hash changed': [
    2,
    /the batch of 3 was changed/,
    `UPDATE ${SECOND.replace(' WHERE', " SET hash = replace(hash, '1', '2') || '' WHERE")}`,
    `UPDATE ${SECOND.replace(' WHERE', " SET hash = printf('%064d', 0) WHERE")}`,
  ],
  'a count changed': [
    2,
    /the batch of 3 was changed/,
    `UPDATE ${SECOND.replace(' WHERE', ' SET count = 1 WHERE')}`,
  ],
  'a batch removed': [2, /the next entry is 5: what was between/, `DELETE FROM ${SECOND}`],
  'the first batch removed': [
    0,
    /the next entry is 3: what was between/,
    'DELETE FROM ledger_batches WHERE id = 1',
  ],
  'the origin changed': [
    0,
    /the batch of 1 was changed/,
    "UPDATE ledger_part SET origin = 'f' || substr(origin, 2) || 'x'",
  ],
  'the key of a month exchanged': [
    0,
    /the batch of 1 was changed/,
    "UPDATE ledger_part SET key_id = '0000000000000000'",
  ],
  'the part removed': [0, /0001\.db cannot be read: .* contains no records/, 'DELETE FROM ledger_part'],
};

for (const [what, [entries, message, ...statements]] of Object.entries(FAULTS)) {
  test(`verify finds: ${what}`, async (context) => {
    const written = await writeLedger(context);
    edit(written.ledgerFile, ...statements);
    const { faults, entries: sound } = verifyIn(written);
    assert.match(faults.join('\n'), message);
    assert.match(faults.join('\n'), /backup/);
    assert.equal(sound, entries);
    assert.equal(findReceipt(written, written.receipts[entries] as string).entry, undefined);
  });
}

test('verify finds that the key of a month is lost, and that all entries are sound', async (context) => {
  const written = await writeLedger(context);
  edit(written.keysFile, 'DELETE FROM ledger_keys');
  const { faults, entries } = verifyIn(written);
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? '', /Month 2025-06: its key is missing or damaged: .* from a backup/);
  assert.equal(entries, written.receipts.length);
  for (const receipt of written.receipts) assert.ok(findReceipt(written, receipt).entry, receipt);
});

test('what was removed from the end of a chain is found by its receipt', async (context) => {
  const written = await writeLedger(context);
  edit(written.ledgerFile, 'DELETE FROM ledger_batches WHERE id = (SELECT max(id) FROM ledger_batches)');
  assert.deepEqual(verifyIn(written).faults, []);
  assert.match(findReceipt(written, written.receipts[7] as string).message, /the end of a chain was removed/);
  assert.notEqual(findReceipt(written, written.receipts[5] as string).entry, undefined);
});

test('a clock that steps back is no fault', async (context) => {
  const written = await writeLedger(context);
  await openCommandLedger(written.databaseFile).record([reading({ timeMs: NOON - 40 * 24 * 3_600_000 })]);
  assert.deepEqual(verifyIn(written).faults, []);
});

/** Three months, a file each. */
async function writeMonths(context: TestContext): Promise<Written> {
  const place = ledgerPlace(context);
  const receipts: string[] = [];
  for (const month of ['2026-01', '2026-02', '2026-03'])
    for (const day of [1, 2])
      receipts.push(
        ...(await place.openLedger().record([reading({ timeMs: Date.parse(`${month}-0${day}`) })])),
      );
  return Object.assign(place, { receipts });
}

const pathOf = (written: Written, index: number): string =>
  join(written.ledgerFolder, ledgerNames(written)[index] as string);

for (const [what, index, message] of [
  ['between others', 1, /Chain 1, after 2: the next entry is 5: what was between them was removed/],
  ['the first one', 0, /-0001\.db is missing, with everything that was recorded in it/],
] as const)
  test(`verify finds that a file was taken away: ${what}`, async (context) => {
    const written = await writeMonths(context);
    const [name = ''] = [ledgerNames(written)[index]];
    rmSync(pathOf(written, index));
    const { faults } = verifyIn(written);
    assert.match(faults.join('\n'), message);
    assert.match(faults.join('\n'), new RegExp(`${name} is missing`));
    const condition = readLedgerStatus(written.databaseFile, { nowMs: NOON, days: 730 });
    assert.deepEqual(condition?.missing, [name]);
  });

test('verify finds that all files were taken away, by the keys that are left', async (context) => {
  const written = await writeMonths(context);
  rmSync(written.ledgerFolder, { recursive: true });
  assert.match(
    verifyIn(written).faults.join('\n'),
    /^All files of the access ledger are missing, .* backup\.$/,
  );
});

test('verify finds that the end of a closed file was removed', async (context) => {
  const written = await writeMonths(context);
  edit(pathOf(written, 0), 'DELETE FROM ledger_batches WHERE id = 2');
  assert.match(
    verifyIn(written).faults.join('\n'),
    /Chain 1, after 1: the end of 2026-01-.*\.db was removed/,
  );
});

test('a file that cannot be read is named and passed over; entries of the others are found', async (context) => {
  const written = await writeMonths(context);
  writeFileSync(pathOf(written, 1), 'in the way');
  const [name = ''] = [ledgerNames(written)[1]];
  assert.deepEqual(
    allEntries(written).map(({ receipt }) => receipt),
    [0, 1, 4, 5].map((i) => written.receipts[i]),
  );
  const { faults, entries } = verifyIn(written);
  assert.match(faults[0] ?? '', new RegExp(`^${name} cannot be read`));
  assert.equal(entries, 4, 'damage of one file says nothing of the next');
  assert.match(
    findReceipt(written, written.receipts[0] as string).message,
    /everything before it is unchanged/,
  );
  assert.match(findReceipt(written, written.receipts[5] as string).message, /but not everything before it/);
});

test('a folder that the user may not read is named, and is no ledger without entries', async (context) => {
  const written = await writeMonths(context);
  const isRoot = process.geteuid?.() === 0;
  chmodSync(dirname(written.databaseFile), 0o755);
  chmodSync(written.ledgerFolder, 0);
  if (isRoot) process.seteuid?.(65_534);
  try {
    const message = /registry\.ledger cannot be read: EACCES/;
    assert.throws(() => verifyIn(written), { name: 'StorageError', message });
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(written.ledgerFolder, 0o700);
  }
});

test('a page that is damaged is passed over from there on, and the file named', async (context) => {
  const place = ledgerPlace(context);
  const large = Array.from({ length: 40 }, () => reading({ endUser: 'x'.repeat(200) }));
  for (let i = 0; i < 40; i++) await place.openLedger().record(large);
  const { size } = statSync(place.ledgerFile);
  const handle = openSync(place.ledgerFile, 'r+');
  writeSync(handle, Buffer.alloc(4096), 0, 4096, Math.floor(size / 2 / 4096) * 4096);
  closeSync(handle);
  const ledger = openLedgerReader(place.databaseFile);
  const count = [...ledger.batches()].length;
  assert.ok(count > 5 && count < 40, String(count));
  assert.deepEqual(
    ledger.unreadable.map(({ name }) => name),
    ledgerNames(place),
  );
});

test('a file that another process moves or removes after it was listed is no fault', async (context) => {
  const place = await writeLedger(context);
  const list = context.mock.method(fs, 'readdirSync');
  const names = ['2020-01-00000000-0001.db', ...ledgerNames(place)];
  list.mock.mockImplementationOnce((() => names) as unknown as typeof fs.readdirSync);
  syncBuiltinESMExports();
  try {
    const { entries, faults } = verifyIn(place);
    assert.ok(list.mock.callCount() > 1);
    assert.deepEqual([entries, faults], [8, []]);
  } finally {
    list.mock.restore();
    syncBuiltinESMExports();
  }
});

test('what is recorded while a ledger is read twice counts in neither pass', async (context) => {
  const place = ledgerPlace(context);
  const other = '1199080000000002';
  const lookup = (number: string, memberIds: number[]) =>
    reading({ subject: { identityCards: [number], memberIds } });
  await place.openLedger().record([lookup(NID, [])]);
  const writer = new LedgerWriter(place.databaseFile, 1_000);
  const store = {
    *listNumbers() {
      writer.append(encodeAccesses([lookup(other, []), lookup(other, [13])]));
      for (const number of [NID, other]) yield { number, current: number, until: null };
    },
    findNumbers: (ids: ReadonlySet<number>) => new Map([...ids].map((id) => [id, other])),
    listCooperatives: () => [],
  };
  const ledger = openLedgerReader(place.databaseFile);
  const { persons, unknown, withoutKey } = findKeyAccesses(ledger, { keyId: 7 }, store as never);
  writer.close();
  assert.deepEqual([persons.map(({ identityCard }) => identityCard), unknown, withoutKey], [[NID], 0, 0]);
});

test('readings of another registry that was at the location do not count', async (context) => {
  const place = ledgerPlace(context);
  await place.openLedger().record([reading()]);
  edit(place.ledgerFile, "UPDATE ledger_part SET registry = 'f000000000000000000000000000000f'");
  openFile(place.databaseFile, { create: true, schema: REGISTRY_SCHEMA }).close();
  const [receipt = ''] = await place.openLedger().record([reading()]);
  assert.deepEqual(
    allEntries(place).map((entry) => entry.receipt),
    [receipt],
  );
  assert.equal(ledgerNames(place).length, 2);
  assert.deepEqual([verifyIn(place).entries, verifyIn(place).faults], [1, []]);
});
