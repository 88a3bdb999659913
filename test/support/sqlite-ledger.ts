/** Access ledgers of tests: their files, accesses to record, and recorded entries. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { AccessLedger, AccessRecord } from '../../src/access/access-ledger.ts';
import type { LedgerEntry } from '../../src/ledger/ledger-entries.ts';
import { listLedgerFiles } from '../../src/ledger/ledger-files.ts';
import { openLedgerReader } from '../../src/ledger/ledger-reader.ts';
import { openCommandLedger } from '../../src/ledger/open-ledger.ts';
import { NOON, temporaryFolder } from './app.ts';

/** Location of a registry, which need not exist. */
export interface LedgerPlace {
  readonly databaseFile: string;
  readonly keysFile: string;
  /** The folder of its ledger. */
  readonly ledgerFolder: string;
  /** The newest file of its ledger. */
  readonly ledgerFile: string;
  /** Records as commands do. */
  openLedger(): AccessLedger;
}

/** Location in a folder that is removed after the test. */
export const ledgerPlace = (context: TestContext): LedgerPlace => ledgerPlaceIn(temporaryFolder(context));

export const ledgerPlaceIn = (folder: string): LedgerPlace => {
  const databaseFile = join(folder, 'registry.db');
  return {
    databaseFile,
    keysFile: join(folder, 'registry.keys.db'),
    ledgerFolder: join(folder, 'registry.ledger'),
    get ledgerFile() {
      return listLedgerFiles(databaseFile).at(-1)?.path ?? '';
    },
    openLedger: () => openCommandLedger(databaseFile),
  };
};

/** Names of the files of a ledger, in their order. */
export const ledgerNames = ({ databaseFile }: Pick<LedgerPlace, 'databaseFile'>): string[] =>
  listLedgerFiles(databaseFile).map(({ name }) => name);

export const NID = '1199080000000001';

/** A lookup by national ID. */
export const reading = (more: Partial<AccessRecord> = {}): AccessRecord => ({
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

type Place = Pick<LedgerPlace, 'databaseFile'>;

export function allEntries({ databaseFile }: Place): LedgerEntry[] {
  const ledger = openLedgerReader(databaseFile);
  return [...ledger.batches()].flatMap((batch) => ledger.entriesOf(batch));
}

export const verifyIn = ({ databaseFile }: Place) => openLedgerReader(databaseFile).verify();

export const findReceipt = ({ databaseFile }: Place, receipt: string) =>
  openLedgerReader(databaseFile).verifyReceipt(receipt);
