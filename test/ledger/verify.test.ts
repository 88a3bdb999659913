/** What `verify` finds: each fault is planted in the files of a sound ledger. */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BatchFormatter, HEADER_START, NO_HASH } from '../../src/ledger/files/batch.ts';
import { systemFunctions } from '../../src/ledger/files/durable.ts';
import { chainFolderOf, headsFileOf, keyFileOf, segmentFileOf } from '../../src/ledger/files/paths.ts';
import { encodeReadings } from '../../src/ledger/files/reading-text.ts';
import { verifyLedger, verifyReceipt } from '../../src/ledger/read/verify.ts';
import { ChainWriter } from '../../src/ledger/write/chain-writer.ts';
import { claimChain } from '../../src/ledger/write/claim-chain.ts';
import { toReceipts } from '../../src/ledger/write/unrecorded.ts';
import { NOON } from '../support/app.ts';
import { ledgerPlace, reading } from '../support/ledger.ts';

interface Written {
  readonly ledger: string;
  readonly folder: string;
  readonly receipts: string[];
  /** Writes another batch of two. */
  write(timeMs?: number): void;
  readonly writer: ChainWriter;
}

const TEXT = encodeReadings([reading(), reading({ status: 404 })]);

/** Three segments with two batches each, and a fourth one that is open, of two readings a batch. */
function writeLedger(context: TestContext): Written {
  const place = ledgerPlace(context);
  const claimed = claimChain(place);
  const receipts: string[] = [];
  const writer = new ChainWriter(claimed.state, systemFunctions, 1_000);
  const write = (timeMs = NOON) =>
    void receipts.push(...toReceipts(writer.append([TEXT.replaceAll(String(NOON), String(timeMs))]), 2));
  for (let i = 0; i < 8; i++) write();
  context.after(() => {
    writer.close();
    claimed.lock.release();
  });
  const ledger = place.ledgerFolder;
  return { ledger, folder: chainFolderOf(ledger, 1), receipts, write, writer };
}

test('a ledger as it was written is sound, and each receipt is found', (context) => {
  const { ledger, receipts } = writeLedger(context);
  assert.deepEqual(verifyLedger(ledger), {
    ...{ entries: 16, faults: [], notes: [] },
    chains: [{ chain: 1, entries: 16, fault: null, notes: [], removed: [] }],
  });
  for (const receipt of receipts) assert.equal(verifyReceipt(ledger, receipt).entry?.receipt, receipt);
  assert.match(verifyReceipt(ledger, `1-${'0'.repeat(32)}`).message, /^The ledger does not hold/);
  assert.match(verifyReceipt(ledger, 'something').message, /^This is no receipt/);
});

test('there is nothing to find in a registry without a ledger', (context) => {
  assert.deepEqual(verifyLedger(ledgerPlace(context).ledgerFolder), {
    ...{ entries: 0, chains: [], faults: [], notes: [] },
  });
});

const edit = (file: string, change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, 'latin1')), 'latin1');

const dropFirst = (text: string, pattern: RegExp): string => text.replace(pattern, '');
/** As a careful hand would: what follows is zeros, and the file is as long as before. */
const padded = (text: string, change: (text: string) => string): string =>
  change(text).padEnd(text.length, '\0');
const BATCH = /\{"first":[^\n]*\n(?:\{"time"[^\n]*\n)*/;
const LAST_BATCH = /\{"first":[^\n]*\n(?:\{"time"[^\n]*\n)*(?=\0)/;

function removeWithKey(folder: string, segment: number): void {
  for (const file of [segmentFileOf(folder, segment), keyFileOf(folder, segment)]) rmSync(file);
}

/** Entries that are sound before the fault, what is said of it, and how it is planted. */
const FAULTS: { [what: string]: [number, RegExp, (written: Written) => void] } = {
  'a row dropped from a closed segment': [
    4,
    /segment 2, /,
    ({ folder }) => edit(segmentFileOf(folder, 2), (text) => dropFirst(text, /\{"time"[^\n]*\n/)),
  ],
  'a row dropped from the last batch': [
    14,
    /segment 4, /,
    ({ folder }) =>
      edit(segmentFileOf(folder, 4), (text) => padded(text, () => dropFirst(text, /\{"time"[^\n]*\n(?=\0)/))),
  ],
  'a byte changed': [
    4,
    /segment 2, batch of 5: it was changed/,
    ({ folder }) => edit(segmentFileOf(folder, 2), (text) => text.replace('"key_id":7', '"key_id":8')),
  ],
  'a byte changed in the last batch': [
    14,
    /segment 4, batch of 15: it was changed/,
    ({ folder }) => edit(segmentFileOf(folder, 4), (text) => text.replace(/(?<="first":15.*)404/s, '200')),
  ],
  'a header changed in the last batch': [
    14,
    /segment 4, after 14/,
    ({ folder }) => edit(segmentFileOf(folder, 4), (text) => text.replace('{"first":15', '{"f1rst":15')),
  ],
  'a length that no file has in the header of the last batch': [
    14,
    /segment 4, after 14/,
    ({ folder }) =>
      edit(segmentFileOf(folder, 4), (text) =>
        text.replace(/(?<="first":15,"count":\d+,"bytes":)(\d+)/, '9999999999'),
      ),
  ],
  'a header changed before the last batch': [
    12,
    /segment 4, after 12/,
    ({ folder }) => edit(segmentFileOf(folder, 4), (text) => text.replace('{"first":13', '{"f1rst":13')),
  ],
  'a batch removed from a closed segment': [
    0,
    /segment 1, batch of 3: it follows 0: a batch between/,
    ({ folder }) => edit(segmentFileOf(folder, 1), (text) => dropFirst(text, BATCH)),
  ],
  'the last batch removed from a closed segment': [
    2,
    /segment 1: it ends with 2, and was closed with 4/,
    ({ folder }) => edit(segmentFileOf(folder, 1), (text) => text.slice(0, text.lastIndexOf(HEADER_START))),
  ],
  'a batch overwritten with zeros': [
    12,
    /segment 4, after 12: what follows/,
    ({ folder }) =>
      edit(segmentFileOf(folder, 4), (text) => text.replace(BATCH, (batch) => '\0'.repeat(batch.length))),
  ],
  'the chain broken: a batch that was computed anew': [
    2,
    /segment 1, batch of 3: it was changed/,
    ({ folder }) =>
      edit(segmentFileOf(folder, 1), (text) => {
        const lines = text.slice(text.indexOf('\n') + 1, text.lastIndexOf(HEADER_START));
        const header = { first: 1, count: 2, dropped: 0 };
        const { bytes } = new BatchFormatter().format(NO_HASH, header, lines.replace('404', '200'), 0);
        return text.replace(BATCH, () => bytes.toString());
      }),
  ],
  'something added to a closed segment': [
    4,
    /segment 1, after 4/,
    ({ folder }) => appendFileSync(segmentFileOf(folder, 1), '\0'),
  ],
  'the first segment removed': [
    0,
    /segment 1: its file is missing/,
    ({ folder }) => rmSync(segmentFileOf(folder, 1)),
  ],
  'a segment in the middle removed, with its key': [
    4,
    /segment 2: its file is missing/,
    ({ folder }) => removeWithKey(folder, 2),
  ],
  'the last segment removed': [
    12,
    /segment 4: its file is missing/,
    ({ folder }) => rmSync(segmentFileOf(folder, 4)),
  ],
  'the last segment removed, with its key': [
    12,
    /segment 4: its file is missing/,
    ({ folder }) => removeWithKey(folder, 4),
  ],
  'a head changed': [
    4,
    /heads.ndjson, segment 2: the line was changed/,
    ({ folder }) => edit(headsFileOf(folder), (text) => text.replace('"last":8', '"last":9')),
  ],
  'a head removed': [
    8,
    /segment 2: it was never closed/,
    ({ folder }) => edit(headsFileOf(folder), (text) => text.replace(/.*"segment":2.*\n/, '')),
  ],
  'all heads removed': [
    4,
    /segment 1: it was never closed/,
    ({ folder }) => truncateSync(headsFileOf(folder)),
  ],
  'the file of heads removed': [
    0,
    /heads.ndjson: it is missing/,
    ({ folder }) => rmSync(headsFileOf(folder)),
  ],
  'the public key missing': [
    0,
    /signing.pub: it is missing/,
    ({ ledger }) => rmSync(join(ledger, 'signing.pub')),
  ],
};

for (const [what, [entries, message, plant]] of Object.entries(FAULTS)) {
  test(`verify finds: ${what}`, (context) => {
    const written = writeLedger(context);
    plant(written);
    const { faults, entries: sound } = verifyLedger(written.ledger);
    assert.match(faults.join('\n'), message);
    assert.match(faults.join('\n'), /backup/);
    assert.equal(sound, entries);
    const receipt = written.receipts[entries] as string;
    assert.equal(verifyReceipt(written.ledger, receipt).entry, undefined);
  });
}

for (const segment of [2, 4])
  test(`verify finds that the key of segment ${segment} is missing, and that all entries are sound`, (context) => {
    const { ledger, folder, receipts } = writeLedger(context);
    rmSync(keyFileOf(folder, segment));
    const { faults, entries } = verifyLedger(ledger);
    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? '', new RegExp(`segment ${segment}: its key is missing: .* from a backup`));
    assert.equal(entries, receipts.length);
    for (const receipt of receipts) assert.ok(verifyReceipt(ledger, receipt).entry, receipt);
  });

test('verify finds: a chain removed', (context) => {
  const place = ledgerPlace(context);
  const chains = [claimChain(place), claimChain(place)];
  context.after(() => {
    for (const { lock } of chains) lock.release();
  });
  rmSync(chainFolderOf(place.ledgerFolder, 1), { recursive: true });
  assert.match(verifyLedger(place.ledgerFolder).faults.join(), /^Chain 1 is missing/);
});

test('what was removed from the end of an open segment is found by its receipt', (context) => {
  const { ledger, folder, receipts } = writeLedger(context);
  edit(segmentFileOf(folder, 4), (text) => text.replace(LAST_BATCH, (batch) => '\0'.repeat(batch.length)));
  assert.deepEqual(verifyLedger(ledger).faults, []);
  assert.match(verifyReceipt(ledger, receipts[15] as string).message, /the end of a chain was removed/);
  assert.notEqual(verifyReceipt(ledger, receipts[13] as string).entry, undefined);
});

test('a clock that steps back is no fault', (context) => {
  const { ledger, write } = writeLedger(context);
  write(NOON - 3_600_000);
  assert.deepEqual(verifyLedger(ledger).faults, []);
});

test('retention removes segments, keeps their heads, and the rest is sound', (context) => {
  const { ledger, folder, receipts, writer, write } = writeLedger(context);
  const DAY = 24 * 3600 * 1000;
  write(NOON + 40 * DAY);
  writer.removeBefore(NOON + 1, NOON + 41 * DAY);
  const { entries, faults, chains } = verifyLedger(ledger);
  assert.deepEqual([entries, faults], [2, []]);
  assert.deepEqual(
    chains[0]?.removed.map(({ first, last }) => [first, last]),
    [
      [1, 4],
      [5, 8],
      [9, 12],
      [13, 16],
    ],
  );
  assert.match(verifyReceipt(ledger, receipts[0] as string).message, /was removed when its time was over/);
  assert.notEqual(verifyReceipt(ledger, receipts[16] as string).entry, undefined);
  assert.throws(() => readFileSync(keyFileOf(folder, 1)), { code: 'ENOENT' });
});
