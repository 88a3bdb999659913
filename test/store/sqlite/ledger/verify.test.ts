/** What `verify` finds: each fault is planted in the rows of a sound ledger. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { openCommandLedger } from '../../../../src/store/sqlite/ledger/command-ledger.ts';
import { NOON } from '../../../support/app.ts';
import {
  findReceipt,
  type LedgerPlace,
  ledgerPlace,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';

interface Written extends LedgerPlace {
  readonly receipts: readonly string[];
}

/** Four batches of two. */
async function writeLedger(context: TestContext): Promise<Written> {
  const place = ledgerPlace(context);
  const ledger = openCommandLedger(place.databaseFile);
  const receipts: string[] = [];
  for (let i = 0; i < 4; i++) receipts.push(...(await ledger.record([reading(), reading({ status: 404 })])));
  return { ...place, receipts };
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
  assert.match(findReceipt(place, `1-${'0'.repeat(32)}`).message, /^The ledger does not hold/);
  assert.match(findReceipt(place, 'something').message, /^This is not a receipt/);
});

test('there is nothing to find in a registry without a ledger', (context) => {
  assert.deepEqual(verifyIn(ledgerPlace(context)), { entries: 0, chains: [], faults: [] });
});

const SECOND = 'ledger_batches WHERE id % 1099511627776 = 3';

/** How many entries are sound then, what is said, and how the fault is planted. */
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
    'DELETE FROM ledger_batches WHERE id % 1099511627776 = 1',
  ],
  'the origin changed': [
    0,
    /the batch of 1 was changed/,
    "UPDATE ledger_chains SET origin = 'f' || substr(origin, 2) || 'x'",
  ],
  'the key of a month exchanged': [
    0,
    /the batch of 1 was changed/,
    "UPDATE ledger_periods SET key_id = '0000000000000000'",
  ],
  'a chain removed': [0, /^Chain 1 is missing/, 'DELETE FROM ledger_chains'],
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
