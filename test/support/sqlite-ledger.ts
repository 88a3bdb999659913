/** Access ledgers of tests: where one is, readings to record, and what is in it. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type {
  AccessLedger,
  LedgerEntry,
  LedgerReader,
  Reading,
} from '../../src/store/contract/access-ledger.ts';
import { openCommandLedger } from '../../src/store/sqlite/ledger/command-ledger.ts';
import { type LedgerFiles, withLedger } from '../../src/store/sqlite/ledger/ledger-reader.ts';
import { NOON, temporaryFolder } from './app.ts';

/** A registry, whether or not it is there. */
export interface LedgerPlace extends LedgerFiles {
  readonly databaseFile: string;
  /** Records as commands do. */
  openLedger(): AccessLedger;
}

/** Of a registry in a folder that is removed after the test. */
export const ledgerPlace = (context: TestContext): LedgerPlace => ledgerPlaceIn(temporaryFolder(context));

export const ledgerPlaceIn = (folder: string): LedgerPlace => ({
  databaseFile: join(folder, 'registry.db'),
  openLedger: () => openCommandLedger(join(folder, 'registry.db')),
  ledgerFile: join(folder, 'registry.ledger.db'),
  keysFile: join(folder, 'registry.keys.db'),
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

const listEntries = (ledger: LedgerReader): LedgerEntry[] =>
  [...ledger.batches()].flatMap((batch) => ledger.entriesOf(batch));

export const allEntries = (place: LedgerFiles): LedgerEntry[] => withLedger(place, listEntries);

export const verifyIn = (place: LedgerFiles) => withLedger(place, (ledger) => ledger.verify());

export const findReceipt = (place: LedgerFiles, receipt: string) =>
  withLedger(place, (ledger) => ledger.verifyReceipt(receipt));
