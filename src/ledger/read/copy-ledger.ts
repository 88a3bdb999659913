/** Copies of the ledger: into backups while it is written, and back to where there is none. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createPrivateFolder, openPrivateFile } from '../../runtime/new-files.ts';
import { syncFolder, systemFunctions, writeFully } from '../files/durable.ts';
import { knownHeads, readHeads } from '../files/heads.ts';
import {
  chainFolderOf,
  headsFileOf,
  keyFileOf,
  keysFolderOf,
  listChains,
  listSegments,
  publicKeyOf,
  segmentFileOf,
  signingKeyOf,
} from '../files/paths.ts';
import { readBatches } from '../files/segment-batches.ts';

/** Retention may remove a segment while it is copied. */
const ATTEMPTS = 3;

/**
 * Copies every chain up to its last complete batch, while others write.
 * @param target a folder that does not exist
 * @throws the system's error
 */
export function copyLedger(ledger: string, target: string): void {
  createPrivateFolder(target);
  for (const fileOf of [signingKeyOf, publicKeyOf])
    if (existsSync(fileOf(ledger))) copyPart(fileOf(ledger), fileOf(target));
  for (const chain of listChains(ledger))
    copyChain(chainFolderOf(ledger, chain), chainFolderOf(target, chain));
  syncFolder(target);
}

/** Puts a copy where there is no ledger: one that is there has gone on since. @returns whether it did */
export function restoreLedger(copy: string, ledger: string): boolean {
  if (existsSync(ledger) || !existsSync(copy)) return false;
  const incomplete = `${ledger}.restoring`;
  rmSync(incomplete, { recursive: true, force: true });
  copyLedger(copy, incomplete);
  renameSync(incomplete, ledger);
  syncFolder(dirname(ledger));
  return true;
}

function copyChain(source: string, target: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      copyChainOnce(source, target);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === ATTEMPTS) throw error;
      rmSync(target, { recursive: true, force: true });
    }
  }
}

function copyChainOnce(source: string, target: string): void {
  createPrivateFolder(target);
  createPrivateFolder(keysFolderOf(target));
  // First: what is closed meanwhile is copied as it is open.
  if (existsSync(headsFileOf(source))) copyPart(headsFileOf(source), headsFileOf(target));
  const { heads, removed } = knownHeads(readHeads(target));
  const open = (heads.at(-1)?.segment ?? 0) + 1;
  for (const segment of listSegments(source)) {
    if (segment > open || removed.has(segment)) continue;
    const [from, to] = [segmentFileOf(source, segment), segmentFileOf(target, segment)];
    copyPart(from, to, segment === open ? endOf(from) : undefined);
    // A key that is lost is lost in backups, too: `verify` says so of both.
    const key = keyFileOf(source, segment);
    if (existsSync(key)) copyPart(key, keyFileOf(target, segment));
  }
  syncFolder(keysFolderOf(target));
  syncFolder(target);
}

/** Where the last complete batch ends. */
function endOf(file: string): number {
  const handle = openSync(file, 'r');
  try {
    const batches = readBatches(handle);
    let step = batches.next();
    while (step.done !== true) step = batches.next();
    return step.value.offset;
  } finally {
    closeSync(handle);
  }
}

/** A segment has at most 64 MiB and a little. @param bytes from the beginning; all of it when not given */
function copyPart(source: string, target: string, bytes?: number): void {
  const content = readFileSync(source).subarray(0, bytes);
  const handle = openPrivateFile(target);
  try {
    writeFully(systemFunctions, handle, content, 0);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
