/**
 * New folders and files. What root creates belongs to the owner of the folder that it is in: a service that
 * runs as somebody else could not open it otherwise.
 */
import { existsSync, fchownSync, lchownSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates the missing folders of a path, each for its owner only. Node's recursive mkdir never returns where
 * a folder that exists takes no new ones and reports that the folder is missing, as `/proc` does.
 * @throws the system's error when one cannot be created
 */
export function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  createPrivateFolder(folder);
}

/** Creates a folder that only its owner can read. @throws the system's error when it exists */
export function createPrivateFolder(folder: string): void {
  mkdirSync(folder, 0o700);
  // Not by way of a symbolic link that somebody has put in its place.
  giveToOwner(folder, (uid, gid) => lchownSync(folder, uid, gid));
}

/** Opens a new file that only its owner can read. @throws the system's error when it exists */
export function openPrivateFile(path: string): number {
  const handle = openSync(path, 'wx+', 0o600);
  giveToOwner(path, (uid, gid) => fchownSync(handle, uid, gid));
  return handle;
}

function giveToOwner(path: string, give: (uid: number, gid: number) => void): void {
  if (process.getuid?.() !== 0) return;
  try {
    const { uid, gid } = statSync(dirname(path));
    give(uid, gid);
  } catch {
    // On some network disks, and in some containers, root may not: it keeps what it has created.
  }
}
