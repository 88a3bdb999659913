/**
 * A disk as a power cut may leave it: what was synced is there; each write, size, name and removal that was
 * not may be there, not there or, of a write, there in some of its sectors.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Call, TraceEvent } from './trace.ts';

const SECTOR_BYTES = 512;

/** One change of a file that was not synced yet. */
interface Write {
  readonly at: number;
  /** Null for a new size. */
  readonly data: Buffer | null;
  isDone: boolean;
}

interface File {
  readonly isFolder: boolean;
  /** What was synced. */
  durable: Buffer;
  unsynced: Write[];
  /** As the processes see it. */
  size: number;
}

interface NameChange {
  readonly folders: readonly string[];
  readonly make: (names: Map<string, File>) => void;
  isDone: boolean;
}

/** What becomes of changes that were not synced. */
export interface Fate {
  /** Of one change: 'torn' is for writes only, and counts as kept for everything else. */
  of(index: number, count: number): 'kept' | 'lost' | 'torn';
  /** Whether one sector of a torn write is kept. */
  keepsSector(): boolean;
}

const newFile = (durable: Buffer = Buffer.alloc(0), isFolder = false): File => ({
  ...{ isFolder, durable, unsynced: [], size: durable.length },
});

/** With memory of its own, so that it can grow in place. */
function copyOf(bytes: Buffer, capacity = bytes.length): Buffer {
  const copy = Buffer.alloc(capacity);
  bytes.copy(copy);
  return copy.subarray(0, bytes.length);
}

/** @param bytes of `copyOf`, which it may change */
function sized(bytes: Buffer, size: number): Buffer {
  if (size <= bytes.length) return bytes.subarray(0, size);
  const roomy = size <= bytes.buffer.byteLength ? bytes : copyOf(bytes, 2 * size);
  return Buffer.from(roomy.buffer, 0, size).fill(0, bytes.length);
}

/** @param isKept whether a sector is written */
function apply(bytes: Buffer, { at, data }: Write, isKept: () => boolean = () => true): Buffer {
  if (data === null) return sized(bytes, at);
  let written = bytes;
  if (at + data.length > bytes.length) written = sized(bytes, at + data.length);
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + SECTOR_BYTES - ((at + from) % SECTOR_BYTES));
    if (isKept()) data.copy(written, at + from, from, to);
    from = to;
  }
  return written;
}

export class Disk {
  /** As the processes see them. */
  private readonly names = new Map<string, File>();
  private readonly durableNames = new Map<string, File>();
  private renamed: NameChange[] = [];
  private readonly positions = new Map<string, number>();
  private readonly begun = new Map<Call, () => void>();

  /**
   * Begins with everything in a folder, as synced.
   * @param as where the folder was when the calls were made
   */
  constructor(folder: string, as: string) {
    const add = (place: string, path: string) => {
      const isFolder = lstatSync(place).isDirectory();
      const file = newFile(isFolder ? undefined : copyOf(readFileSync(place)), isFolder);
      this.names.set(path, file);
      this.durableNames.set(path, file);
      if (isFolder) for (const name of readdirSync(place)) add(join(place, name), join(path, name));
    };
    add(folder, as);
  }

  take({ call, phase }: TraceEvent): void {
    if (phase === 'begins') {
      const end = this.begin(call);
      if (end !== undefined) this.begun.set(call, end);
      return;
    }
    this.begun.get(call)?.();
    this.begun.delete(call);
  }

  /** @returns what happens when the call ends */
  private begin(call: Call): (() => void) | undefined {
    const { name, paths, result } = call;
    const [path, target] = paths;
    if (result !== undefined && result < 0) return undefined;
    if (/^(open|creat)/.test(name)) return path === undefined ? undefined : () => this.open(path, call);
    const file = path === undefined ? undefined : this.names.get(path);
    if (/^(rename|link)/.test(name)) return this.move(path, target, name.startsWith('rename'));
    if (/^mkdir/.test(name)) return path === undefined ? undefined : this.create(path, true);
    if (/^(unlink|rmdir)/.test(name)) return path === undefined ? undefined : this.remove(path);
    if (/^(copy_file_range|sendfile)$/.test(name)) return this.copy(call);
    if (path === undefined || file === undefined) return undefined;
    if (/^f(data)?sync$/.test(name)) return this.sync(path, file);
    if (name === 'ftruncate') return this.change(file, { at: call.numbers[0] ?? 0, data: null });
    if (name === 'fallocate')
      return this.change(file, {
        at: Math.max(file.size, (call.numbers[1] ?? 0) + (call.numbers[2] ?? 0)),
        data: null,
      });
    return this.write(path, file, call);
  }

  private write(
    path: string,
    file: File,
    { name, fd, data, numbers, result }: Call,
  ): (() => void) | undefined {
    const place = `${fd} ${path}`;
    if (name === 'lseek') {
      this.positions.set(place, result ?? 0);
      return undefined;
    }
    const written = data.subarray(0, result ?? data.length);
    if (name.startsWith('pwrite')) return this.change(file, { at: numbers.at(-1) ?? 0, data: written });
    const position = this.positions.get(place) ?? 0;
    const at = position === -1 ? file.size : position;
    if (position !== -1) this.positions.set(place, at + written.length);
    return this.change(file, { at, data: written });
  }

  private change(file: File, { at, data }: Omit<Write, 'isDone'>): () => void {
    const write = { at, data, isDone: false };
    file.unsynced.push(write);
    file.size = data === null ? at : Math.max(file.size, at + data.length);
    return () => {
      write.isDone = true;
    };
  }

  private open(path: string, { fd, flags }: Call): void {
    if (/O_CREAT/.test(flags) && !this.names.has(path)) this.create(path, false)();
    const file = this.names.get(path);
    this.positions.set(`${fd} ${path}`, /O_APPEND/.test(flags) ? -1 : 0);
    if (/O_TRUNC/.test(flags) && file !== undefined) this.change(file, { at: 0, data: null })();
  }

  private create(path: string, isFolder: boolean): () => void {
    const file = newFile(undefined, isFolder);
    return this.rename([dirname(path)], (names) => names.set(path, file));
  }

  private remove(path: string): () => void {
    return this.rename([dirname(path)], (names) => names.delete(path));
  }

  private move(
    from: string | undefined,
    to: string | undefined,
    isRename: boolean,
  ): (() => void) | undefined {
    if (from === undefined || to === undefined) {
      const path = from ?? to;
      if (path === undefined) return undefined;
      throw new Error(`${path} was moved into the folder or out of it.`);
    }
    return this.rename([dirname(from), dirname(to)], (names) => {
      const inside = [...names].filter(([path]) => path === from || path.startsWith(`${from}/`));
      for (const [path, file] of inside) {
        if (isRename) names.delete(path);
        names.set(to + path.slice(from.length), file);
      }
    });
  }

  private rename(folders: readonly string[], make: NameChange['make']): () => void {
    const change = { folders, make, isDone: false };
    this.renamed.push(change);
    make(this.names);
    return () => {
      change.isDone = true;
    };
  }

  private copy({ paths: [from, to], name, fd, result }: Call): (() => void) | undefined {
    const [source, target] = name === 'sendfile' ? [to, from] : [from, to];
    const file = target === undefined ? undefined : this.names.get(target);
    if (target === undefined || file === undefined) return undefined;
    const bytes = source === undefined ? undefined : this.names.get(source);
    if (bytes === undefined) throw new Error(`${target} was copied from elsewhere.`);
    let content = copyOf(bytes.durable);
    for (const write of bytes.unsynced) content = apply(content, write);
    const at = this.positions.get(`${fd} ${target}`) ?? 0;
    this.positions.set(`${fd} ${target}`, at + (result ?? 0));
    return this.change(file, { at, data: content.subarray(at, at + (result ?? content.length)) });
  }

  /** What had ended when the call began is durable when it ends. */
  private sync(path: string, file: File): () => void {
    if (file.isFolder) {
      const made = this.renamed.filter(({ folders, isDone }) => isDone && folders.includes(path));
      return () => {
        for (const { make } of made) make(this.durableNames);
        this.renamed = this.renamed.filter((change) => !made.includes(change));
      };
    }
    const written = file.unsynced.filter(({ isDone }) => isDone);
    return () => {
      const still = new Set(file.unsynced);
      for (const write of written) if (still.delete(write)) file.durable = apply(file.durable, write);
      file.unsynced = [...still];
    };
  }

  /** The files after a power cut at this moment, by path, until the next event is taken; folders are null. */
  afterCut(fate: Fate): Map<string, Buffer | null> {
    const names = new Map(this.durableNames);
    for (const [i, { make }] of this.renamed.entries())
      if (fate.of(i, this.renamed.length) !== 'lost') make(names);
    const left = new Map<string, Buffer | null>();
    for (const [path, file] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (left.has(dirname(path)) || this.isRoot(path))
        left.set(path, file.isFolder ? null : leave(file, fate));
    }
    return left;
  }

  private isRoot(path: string): boolean {
    const [root] = this.durableNames.keys();
    return path === root;
  }
}

function leave({ durable, unsynced }: File, fate: Fate): Buffer {
  // Most files are as they were synced, and one has megabytes.
  if (unsynced.length === 0) return durable;
  let bytes = copyOf(durable);
  for (const [i, write] of unsynced.entries()) {
    const outcome = fate.of(i, unsynced.length);
    if (outcome === 'lost') continue;
    bytes = apply(bytes, write, outcome === 'torn' ? () => fate.keepsSector() : undefined);
  }
  return bytes;
}
