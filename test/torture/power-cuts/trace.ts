/** Reads what strace has written: the calls that change files in one folder, and what was sent meanwhile. */
import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';

/** The calls that are traced: every way to change a file that SQLite, Node or this project uses. */
export const CALLS = [
  ...['open', 'openat', 'creat', 'lseek', 'write', 'writev', 'pwrite64', 'pwritev'],
  ...['fsync', 'fdatasync', 'ftruncate', 'fallocate', 'copy_file_range', 'sendfile'],
  ...['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir', 'link', 'linkat'],
] as const;

/** So that strace shows all bytes of everything, with the path of each open file. */
export const STRACE = [
  ...['strace', '-f', '-y', '-qq', '-xx', '-s', '33554432', '--seccomp-bpf', '-e', 'signal=none'],
  ...['-e', `trace=${CALLS.join(',')}`],
] as const;

export interface Call {
  readonly name: string;
  /** Paths that it was given, or those of its open files; of files elsewhere undefined. */
  readonly paths: readonly (string | undefined)[];
  /** Number of its open file; of the last one, when it has several. */
  readonly fd: number;
  readonly data: Buffer;
  /** The numbers after its texts and files: lengths, positions, sizes. */
  readonly numbers: readonly number[];
  readonly flags: string;
  /** What it returned; negative for an error, undefined when it never did. */
  readonly result: number | undefined;
}

/** Calls begin and end in the order in which they did. */
export interface TraceEvent {
  readonly call: Call;
  readonly phase: 'begins' | 'ends';
}

/** The value of each hexadecimal digit, by its code. */
const DIGITS = Uint8Array.from(
  { length: 128 },
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
);

/** Reads `\\x68\\x65`. */
function decode(text: string): Buffer {
  const bytes = Buffer.alloc(text.length / 4);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = 16 * (DIGITS[text.charCodeAt(4 * i + 2)] ?? 0) + (DIGITS[text.charCodeAt(4 * i + 3)] ?? 0);
  return bytes;
}
const encode = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
const OPEN_FILE = /(\d+|AT_FDCWD)<([^>]*)>(\(deleted\))?/g;
const TAKES_PATHS = /^(open|creat|rename|unlink|mkdir|rmdir|link)/;

function parseCall(name: string, text: string, folder: string): Call {
  const end = text.lastIndexOf(') ');
  const outcome = end === -1 ? '' : text.slice(end);
  // Every second part stands in quotes: regular expressions would run over megabytes of it.
  const parts = (end === -1 ? text : text.slice(0, end)).split('"');
  const texts = parts.filter((_, i) => i % 2 === 1).map(decode);
  const rest = parts.filter((_, i) => i % 2 === 0).join('');
  const open = [...rest.matchAll(OPEN_FILE)].map(([, fd, path = '', deleted]) => ({
    fd: Number(fd),
    path: deleted === undefined ? decode(path).toString() : undefined,
  }));
  const inFolder = (path: string | undefined) =>
    path === folder || path?.startsWith(`${folder}/`) ? path : undefined;
  const takesPaths = TAKES_PATHS.test(name);
  const given = (takesPaths ? texts : [])
    .map(String)
    .map((path, i) => (isAbsolute(path) ? path : resolve(open[i]?.path ?? '', path)));
  const opened = / = (\d+)</.exec(outcome)?.[1];
  const result = / = (-?\d+)/.exec(outcome)?.[1];
  return {
    name,
    paths: (takesPaths ? given : open.map(({ path }) => path)).map(inFolder),
    fd: Number(opened ?? open.at(-1)?.fd ?? -1),
    data: takesPaths ? Buffer.alloc(0) : Buffer.concat(texts),
    numbers: [...rest.replace(OPEN_FILE, '').matchAll(/(?<![\w.])-?\d+/g)].map(Number),
    flags: /\bO_[A-Z_|]+/.exec(rest)?.[0] ?? '',
    result: result === undefined ? undefined : Number(result),
  };
}

interface Line {
  readonly name: string;
  readonly text: string;
  /** Places in the order of all events; without an end, it never returned. */
  readonly begins: number;
  readonly ends: number | undefined;
}

/** Puts calls together that strace shows in two lines, because others came between. */
function* joinLines(lines: Iterable<string>): Generator<Line> {
  const unfinished = new Map<string, Omit<Line, 'ends'>>();
  let place = 0;
  for (const line of lines) {
    const [head = '', pid = '', resumed, name = ''] =
      /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()/.exec(line) ?? [];
    if (pid === '') continue;
    const text = line.slice(head.length);
    if (resumed !== undefined) {
      const call = unfinished.get(pid);
      unfinished.delete(pid);
      if (call !== undefined) yield { ...call, text: call.text + text, ends: place++ };
    } else if (text.endsWith(' <unfinished ...>'))
      unfinished.set(pid, { name, text: text.slice(0, -' <unfinished ...>'.length), begins: place++ });
    else yield { name, text, begins: place++, ends: place++ };
  }
  for (const call of unfinished.values()) yield { ...call, ends: undefined };
}

/** @param folder calls on files elsewhere are left out, except what was written to sockets and pipes */
export function readTrace(file: string, folder: string): TraceEvent[] {
  const inFolder = encode(folder);
  const order: (TraceEvent | undefined)[] = [];
  for (const { name, text, begins, ends } of joinLines(readFileSync(file, 'latin1').split('\n'))) {
    if (!text.includes(inFolder) && !/^writev?$/.test(name)) continue;
    const call = parseCall(name, text, folder);
    order[begins] = { call, phase: 'begins' };
    if (ends !== undefined) order[ends] = { call, phase: 'ends' };
  }
  return order.filter((event) => event !== undefined);
}
