/** Access ledgers of tests: where one is, readings to record, and what is in it. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { KIGALI } from '../../src/domain/values/date-time.ts';
import { entriesOf, type LedgerEntry, readLedger } from '../../src/ledger/read/read-ledger.ts';
import type { LedgerPlace } from '../../src/ledger/write/claim-chain.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import { openStorage } from '../../src/store/open.ts';
import type { Reading } from '../../src/store/ports/access-ledger.ts';
import { NOON, temporaryFolder, testClock } from './app.ts';

/** Of a registry in a folder that is removed after the test. */
export const ledgerPlace = (context: TestContext): LedgerPlace => ledgerPlaceIn(temporaryFolder(context));

export const ledgerPlaceIn = (folder: string): LedgerPlace =>
  openStorage(join(folder, 'registry.db'), {
    ...{ clock: testClock(), scheduler: new Scheduler(), zone: KIGALI },
  });

export const NID = '1199080000000001';

/** A lookup by national ID. */
export const reading = (more: Partial<Reading> = {}): Reading => ({
  timeMs: NOON,
  requestId: 'request-1',
  reader: { keyId: 7 },
  route: 'GET /members/{identity_card}',
  fields: ['identity', 'contact'],
  status: 200,
  address: '127.0.0.1',
  purpose: null,
  endUser: null,
  subject: { identityCards: [NID], memberIds: [12] },
  ...more,
});

export const allEntries = ({ ledgerFolder }: Pick<LedgerPlace, 'ledgerFolder'>): LedgerEntry[] =>
  [...readLedger(ledgerFolder)].flatMap(entriesOf);
