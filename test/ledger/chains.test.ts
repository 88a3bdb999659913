/** Several chains, and several processes at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimesSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemFunctions } from '../../src/ledger/files/durable.ts';
import { chainFolderOf, listSegments, segmentFileOf } from '../../src/ledger/files/paths.ts';
import { encodeReadings } from '../../src/ledger/files/reading-text.ts';
import { verifyLedger } from '../../src/ledger/read/verify.ts';
import { ChainWriter } from '../../src/ledger/write/chain-writer.ts';
import { claimChain, type LedgerPlace } from '../../src/ledger/write/claim-chain.ts';
import { removeFromOthers } from '../../src/ledger/write/retention.ts';
import { NOON, temporaryFolder } from '../support/app.ts';
import { allEntries, ledgerPlace, ledgerPlaceIn, reading } from '../support/ledger.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Takes a chain and writes three segments of two readings each, the last one open. @returns lets go of it */
function writeChain(context: TestContext, place: LedgerPlace): () => void {
  const { state, lock } = claimChain(place);
  const writer = new ChainWriter(state, systemFunctions, 100);
  context.after(() => lock.release());
  for (let i = 0; i < 3; i++) writer.append([encodeReadings([reading(), reading()])]);
  writer.close();
  const long = new Date(NOON);
  for (const segment of listSegments(state.folder))
    utimesSync(segmentFileOf(state.folder, segment), long, long);
  return () => lock.release();
}

test('retention removes from chains that nobody writes, and from no other', (context) => {
  const place = ledgerPlace(context);
  const ends = [1, 2, 3].map(() => writeChain(context, place));
  const remaining = (beforeMs: number): number[] => {
    removeFromOthers(place, 1, { beforeMs, nowMs: NOON + 2 * DAY_MS });
    const { chains, faults } = verifyLedger(place.ledgerFolder);
    assert.deepEqual(faults, []);
    return chains.map(({ entries }) => entries);
  };
  // The first one is the caller's own, and the third one has another writer.
  ends[0]?.();
  ends[1]?.();
  assert.deepEqual(remaining(NOON - 1), [6, 6, 6]);
  assert.deepEqual(remaining(NOON + DAY_MS), [6, 2, 6]);
  assert.deepEqual(listSegments(chainFolderOf(place.ledgerFolder, 2)), [3]);
  ends[2]?.();
  assert.deepEqual(remaining(NOON + DAY_MS), [6, 2, 2]);
});

test('a ledger is read and sound at any moment while another process writes it', async (context) => {
  const folder = temporaryFolder(context);
  const place = ledgerPlaceIn(folder);
  const program = fileURLToPath(new URL('../support/append-readings.ts', import.meta.url));
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  let seen = 0;
  for (let isAtEnd = false; ; await turn()) {
    const { entries, faults } = verifyLedger(place.ledgerFolder);
    const sequences = allEntries(place).map(({ sequence }) => sequence);
    assert.deepEqual(faults, []);
    assert.ok(seen <= entries && entries <= sequences.length);
    assert.ok(sequences.every((sequence, i) => sequence === i + 1));
    seen = entries;
    if (isAtEnd) break;
    isAtEnd = child.exitCode !== null || child.signalCode !== null;
  }
  assert.deepEqual(await ended, [0, null]);
  assert.equal(seen, 300);
});
