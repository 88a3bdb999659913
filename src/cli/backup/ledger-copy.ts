/** The access ledger in backups (docs/decisions/0030-access-ledger.md). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { copyLedger, restoreLedger } from '../../ledger/read/copy-ledger.ts';
import { verifyLedger } from '../../ledger/read/verify.ts';
import type { Finding, Storage } from '../../store/ports/storage.ts';

const copyIn = (folder: string): string => join(folder, 'registry.ledger');

/** Nothing where there is no ledger. */
export function copyLedgerInto(folder: string, { ledgerFolder }: Storage): void {
  if (existsSync(ledgerFolder)) copyLedger(ledgerFolder, copyIn(folder));
}

/**
 * @param folder of a backup
 * @returns whether the ledger was put back: not where there is one, which has gone on
 */
export const restoreLedgerFrom = (folder: string, { ledgerFolder }: Storage): boolean =>
  restoreLedger(copyIn(folder), ledgerFolder);

/** @param folder of a backup @returns its first fault; null when it is sound, or has none */
export const faultOfLedgerIn = (folder: string): string | null =>
  checkLedger(copyIn(folder))[0]?.fault ?? null;

/** @param ledger its folder @returns one finding; none where there is no ledger */
export function checkLedger(ledger: string): Finding[] {
  if (!existsSync(ledger)) return [];
  const { entries, faults } = verifyLedger(ledger);
  const [fault = null] = faults.map((each) => `registry.ledger: ${each}`);
  return [{ check: 'access ledger', fault, value: `${entries} readings` }];
}
