/** A small disk that a test may fill; mounting it needs root. */
import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, openSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '../deploy/programs.ts';

const MB = 1024 * 1024;

/** @returns why there is none here */
export function mount(folder: string, sizeMb: number): string | undefined {
  const lacking = missing('mount', 'umount');
  if (lacking !== false) return lacking;
  if (process.getuid?.() !== 0) return 'Mounting a small disk needs root.';
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    return `No small disk can be mounted: ${(error as Error).message.trim()}`;
  }
  return undefined;
}

/** Leaves so many megabytes free. */
export function fill(folder: string, leftMb: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const file = openSync(join(folder, 'ballast'), 'a');
  const piece = Buffer.alloc(64 * 1024, 1);
  try {
    for (let room = bavail * bsize - leftMb * MB; room > 0; room -= piece.length) writeSync(file, piece);
    fsyncSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
