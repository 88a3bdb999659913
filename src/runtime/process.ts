/** The process: its user, version and memory limits, and the private folders and files that it creates. */
import { existsSync, fchownSync, lchownSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type Message, say } from '../values/message.ts';

/** Returns the code of an operating-system error, such as `ENOENT`; undefined for any other error. */
export const systemCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;

/** Returns the name of the operating-system user; `uid 1000` if the id has no name, as in some containers. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The path is correct from `src/` and from `dist/`. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Names the user, because an installed command runs as the user of the service, not as the caller. */
export const deniedMessage = (path: string): Message =>
  say('The user {user}, as whom this command runs, may not read {path} (EACCES).', {
    user: systemUser(),
    path: resolve(path),
  });

// Memory limits of a service, which Node and the C library accept only at the start of a process

const YOUNG_OBJECTS = '--max-semi-space-size';
/** Size of each half of V8's young generation. With Node's 16, memory grows a third more under load. */
const YOUNG_MIB = 8;

/**
 * Restarts this program in the same process, with memory limits (docs/decisions/0015-how-it-is-started.md).
 * The process id, open files and settings stay the same. Does nothing if the user has set a limit, or if the
 * process has a channel to its parent, which would be lost.
 */
export function limitMemory(): void {
  const { execArgv, env, execPath, argv } = process;
  if ([...execArgv, env.NODE_OPTIONS ?? ''].some((options) => options.includes(YOUNG_OBJECTS))) return;
  if (process.send !== undefined || process.platform !== 'linux') return;
  const args = [execPath, ...execArgv, `${YOUNG_OBJECTS}=${YOUNG_MIB}`, ...argv.slice(1)];
  // By default, malloc has eight arenas per processor, and each retains memory that was freed.
  process.execve?.(execPath, args, { MALLOC_ARENA_MAX: '2', ...env });
}

// New folders and files. A process of root gives them to the owner of their parent folder: otherwise a
// service of that owner could not open them.

/**
 * Creates the missing folders of a path, readable only by their owner. Does not use Node's recursive mkdir,
 * which never returns in `/proc`: the system reports a refusal there as a missing parent.
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
    // On some network disks and in some containers, root cannot change the owner. The file then stays root's.
  }
}
