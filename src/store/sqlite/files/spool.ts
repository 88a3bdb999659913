/** Files without a name: what is written there is gone once they are closed, after a kill too. */
import { randomUUID } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { openPrivateFile } from '../../../runtime/new-files.ts';
import { SPOOL_INFIX } from './registry-files.ts';

/** @returns the descriptor of an empty file on the disk of the registry, which nobody else can open */
export function openSpool(databaseFile: string): number {
  const path = `${databaseFile}${SPOOL_INFIX}${randomUUID()}`;
  const descriptor = openPrivateFile(path);
  unlinkSync(path);
  return descriptor;
}
