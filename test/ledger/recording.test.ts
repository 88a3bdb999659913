/** What is recorded, by the thread of a service and by commands, and read back. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { RegistryError } from '../../src/domain/values/errors.ts';
import { chainFolderOf, keyFileOf } from '../../src/ledger/files/paths.ts';
import type { LedgerPlace } from '../../src/ledger/write/claim-chain.ts';
import { openCommandLedger } from '../../src/ledger/write/command-ledger.ts';
import { openServiceLedger } from '../../src/ledger/write/service-ledger.ts';
import type { AccessLedger } from '../../src/store/ports/access-ledger.ts';
import { testClock } from '../support/app.ts';
import { allEntries, ledgerPlace, NID, reading } from '../support/ledger.ts';

interface Opened {
  readonly ledger: AccessLedger;
  readonly notes: string[];
  readonly clock: ReturnType<typeof testClock>;
  /** The thread that writes. */
  readonly worker: Worker;
}

async function openService(context: TestContext, place: LedgerPlace): Promise<Opened> {
  const notes: string[] = [];
  const clock = testClock();
  const started = once(process, 'worker');
  const ledger = openServiceLedger({ place, clock, days: 730, note: (message) => void notes.push(message) });
  context.after(() => ledger.close());
  const [worker] = (await started) as [Worker];
  return { ledger, notes, clock, worker };
}

/** Of a person in the first segment, as anybody with its key can compute it. */
const hmacOf = ({ ledgerFolder }: LedgerPlace, identityCard: string): string =>
  createHmac('sha256', readFileSync(keyFileOf(chainFolderOf(ledgerFolder, 1), 1)).subarray(0, 32))
    .update(identityCard)
    .digest('hex')
    .slice(0, 32);

test('each reading is recorded with its receipt, and holds no national ID', async (context) => {
  const place = ledgerPlace(context);
  const { ledger } = await openService(context, place);
  const all = { asOfSequence: 91, cooperativeIds: [3, 4] };
  const receipts = await ledger.record([
    reading(),
    reading({
      reader: { user: 'alice' },
      subject: { all },
      address: null,
      purpose: 'crédit',
      endUser: 'Bob',
      isPage: true,
    }),
  ]);
  const more = await ledger.record([reading({ status: 404, subject: { identityCards: [NID] } })]);
  const entries = allEntries(place);
  assert.deepEqual(
    entries.map(({ receipt }) => receipt),
    [...receipts, ...more],
  );
  assert.match(receipts[0] ?? '', /^1-[0-9a-f]{32}$/);
  assert.deepEqual(
    entries.map(({ sequence }) => sequence),
    [1, 2, 3],
  );
  const hash = hmacOf(place, NID);
  const { receipt: _, ...first } = entries[0] as (typeof entries)[0];
  assert.deepEqual(first, {
    ...{ chain: 1, sequence: 1, time: '2025-06-15T10:00:00.000Z', request_id: 'request-1', key_id: 7 },
    ...{ route: 'GET /members/{identity_card}', fields: ['identity', 'contact'], status: 200 },
    ...{ address: '127.0.0.1', persons: [hash], members: [12] },
  });
  const { user, purpose, end_user: endUser, all: stored, ...others } = entries[1] as (typeof entries)[0];
  assert.deepEqual([user, purpose, endUser], ['alice', 'crédit', 'Bob']);
  assert.deepEqual([others.address, others.page], [undefined, true]);
  assert.deepEqual(stored, { as_of: 91, cooperatives: [3, 4] });
  for (const name of readdirSync(place.ledgerFolder, { recursive: true, encoding: 'utf8' })) {
    const path = join(place.ledgerFolder, name);
    const { mode } = statSync(path);
    assert.equal(mode & 0o777, statSync(path).isDirectory() ? 0o700 : 0o600, name);
    if (statSync(path).isFile()) assert.ok(!readFileSync(path, 'latin1').includes(NID), name);
  }
});

test('any value is recorded as one value', async (context) => {
  const place = ledgerPlace(context);
  const ledger = openCommandLedger(place);
  context.after(() => ledger.close());
  const identityCards = ['1\x1d2', NID, 'é'.repeat(30), NID];
  await ledger.record([
    reading({ endUser: 'a\x1e1\x1fb\nc', purpose: '"a" \\b é 😀', fields: [], subject: { identityCards } }),
  ]);
  const [entry, ...more] = allEntries(place);
  const { end_user: endUser, purpose, fields, persons } = entry ?? {};
  assert.deepEqual([endUser, purpose, fields, more], ['a 1 b c', '"a" \\b é 😀', [], []]);
  const recorded = ['1 2', ...identityCards.slice(1)];
  assert.deepEqual(
    persons,
    recorded.map((person) => hmacOf(place, person)),
  );
});

test('what is given before the end is recorded, and the next process goes on', async (context) => {
  const place = ledgerPlace(context);
  const { ledger } = await openService(context, place);
  const given = Array.from({ length: 20 }, () => ledger.record([reading(), reading()]));
  await ledger.close();
  const receipts = (await Promise.all(given)).flat();
  await assert.rejects(ledger.record([reading()]), { code: 'unavailable', reason: 'ledger' });
  const next = openCommandLedger(place);
  receipts.push(...(await next.record([reading()])));
  await next.close();
  assert.deepEqual(
    allEntries(place).map(({ receipt }) => receipt),
    receipts,
  );
  assert.equal(receipts.at(-1)?.split('-')[0], '41');
});

test('two writers at once have a chain each', async (context) => {
  const place = ledgerPlace(context);
  const { ledger } = await openService(context, place);
  const command = openCommandLedger(place);
  await ledger.record([reading()]);
  await command.record([reading({ reader: { user: 'alice' } })]);
  await ledger.record([reading()]);
  await command.close();
  assert.deepEqual(
    allEntries(place).map(({ chain, sequence }) => [chain, sequence]),
    [
      [1, 1],
      [1, 2],
      [2, 1],
    ],
  );
});

test('when the thread has ended, readings are refused, and it is started again a second later', async (context) => {
  const place = ledgerPlace(context);
  const { ledger, worker, clock, notes } = await openService(context, place);
  await ledger.record([reading()]);
  const ended = once(worker, 'exit');
  void worker.terminate();
  const waiting = ledger.record([reading()]);
  await assert.rejects(waiting, (error) => error instanceof RegistryError && error.reason === 'ledger');
  await ended;
  await assert.rejects(ledger.record([reading()]), { code: 'unavailable', reason: 'ledger' });
  clock.advance(1_000);
  const [receipt = ''] = await ledger.record([reading()]);
  assert.equal(allEntries(place).at(-1)?.receipt, receipt);
  assert.deepEqual(notes, [
    'access ledger: the thread that writes it has ended',
    'access ledger: readings are recorded again',
  ]);
});

test('what a thread had when it ended is refused, and what waited behind it goes to the next one', async (context) => {
  const place = ledgerPlace(context);
  const { ledger, worker, clock } = await openService(context, place);
  clock.advance(1_000);
  void worker.terminate();
  const waiting = Array.from({ length: 4 }, () => ledger.record([reading()]));
  const settled = await Promise.allSettled(waiting);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled', 'fulfilled'],
  );
  const receipts = await Promise.all([...waiting.slice(2), ledger.record([reading()])]);
  assert.deepEqual(
    allEntries(place).map(({ receipt }) => receipt),
    receipts.flat(),
  );
});
