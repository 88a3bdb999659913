import { existsSync, fchownSync, lchownSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type Message, say } from '../values/message.ts';

/** Returns the code of an operating-system error, such as `ENOENT`, or undefined for any other error. */
export const systemCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;

/** Returns the operating-system user of this process. In a container, a user id may have no name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Returns the version of this package, not of the API. The path works from `src/` and from `dist/`. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * Returns the message for a path to which the system denies access (EACCES). The message names the user,
 * because an installed command runs as the service's user, not as the user who types the command.
 */
export const deniedMessage = (path: string): Message =>
  say('The user {user}, as whom this command runs, may not read {path} (EACCES).', {
    user: systemUser(),
    path: resolve(path),
  });

// Memory limits of a service, which can be set only when a process starts

const YOUNG_OBJECTS = '--max-semi-space-size';
/** MiB per half of V8's young generation; with Node's 16, the process grows a third more under load. */
const YOUNG_MIB = 8;
/** Number of malloc arenas. The default is eight per processor, each keeping memory that a thread freed. */
const POOLS = { MALLOC_ARENA_MAX: '2' };

/**
 * Replaces this process with the same program under these limits, however it was started
 * (docs/decisions/0015-how-it-is-started.md). The process id, files and settings stay the same. Limits set
 * explicitly are not changed, and a program with a channel to its parent continues unchanged, because it
 * would lose the channel.
 */
export function limitMemory(): void {
  const { execArgv, env, execPath, argv } = process;
  if ([...execArgv, env.NODE_OPTIONS ?? ''].some((options) => options.includes(YOUNG_OBJECTS))) return;
  if (process.send !== undefined || process.platform !== 'linux') return;
  const args = [execPath, ...execArgv, `${YOUNG_OBJECTS}=${YOUNG_MIB}`, ...argv.slice(1)];
  process.execve?.(execPath, args, { ...POOLS, ...env });
}

// New folders and files. If root creates them, they are given to the owner of their folder, because a service
// that runs as another user could not open them otherwise.

/**
 * Creates the missing folders of a path; only their owner can read them. Node's recursive mkdir is not used,
 * because it never returns in folders such as `/proc`, which refuse new folders and report themselves
 * missing.
 * @throws the system's error if a folder cannot be created
 */
export function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  createPrivateFolder(folder);
}

/** Creates a folder that only its owner can read. @throws the system's error if the folder exists */
export function createPrivateFolder(folder: string): void {
  mkdirSync(folder, 0o700);
  // Does not follow a symbolic link that may have replaced the folder.
  giveToOwner(folder, (uid, gid) => lchownSync(folder, uid, gid));
}

/** Opens a new file that only its owner can read. @throws the system's error if the file exists */
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
    // On some network disks and in some containers, root cannot change the owner and keeps the file.
  }
}
