/** A ZIP archive → its parts, within what memory and time allow. */
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type Entry, fromFdPromise } from 'yauzl';

/** What all parts unpack to, in bytes: a small file may unpack to any size. */
export const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Of one text, twice what Excel takes: any number of cells may share it, and each is read. */
export const MAX_TEXT_CHARACTERS = 65_535;
export const LONG_TEXT = `a text of more than ${MAX_TEXT_CHARACTERS} characters`;
/** A workbook has a few parts for each sheet and picture. */
const MAX_PARTS = 10_000;

const DAMAGED = 'The workbook is damaged. Open it in a spreadsheet, save it as .xlsx and import it again.';
const TOO_LARGE =
  'The workbook unpacks to more than 256 MB. Save the sheet as "CSV UTF-8" and import that file.';
const PASSWORD = 'The workbook has a password. Remove it, save the workbook and import it again.';

/** Why a workbook cannot be read; the message is for the operator. */
export class UnreadableWorkbook extends Error {
  /** The row that is meant; undefined for the one that is being read. */
  readonly line: number | undefined;

  constructor(message = DAMAGED, options: ErrorOptions & { line?: number } = {}) {
    super(message, options);
    this.name = 'UnreadableWorkbook';
    this.line = options.line;
  }
}

export interface Archive {
  has(path: string): boolean;
  /** Bytes that a part unpacks to. */
  bytesOf(path: string): number;
  /** @throws UnreadableWorkbook when there is no such part, or it unpacks to more than it declares */
  read(path: string): AsyncGenerator<Buffer>;
}

/**
 * The declared sizes are added up before anything is unpacked, and a part that turns out to be larger than it
 * declares is not read any further: so no more than the maximum is ever unpacked at one reading.
 * @throws UnreadableWorkbook; the system's error
 */
export async function openArchive(handle: FileHandle): Promise<Archive> {
  const zip = await damagedUnlessSystem(() =>
    fromFdPromise(handle.fd, { lazyEntries: true, autoClose: false, validateEntrySizes: true }),
  );
  if (zip.entryCount > MAX_PARTS) throw new UnreadableWorkbook(TOO_LARGE);
  const entries = new Map<string, Entry>();
  let unpacked = 0;
  await damagedUnlessSystem(async () => {
    for await (const entry of zip.eachEntry()) {
      unpacked += entry.uncompressedSize;
      if (unpacked > MAX_UNPACKED_BYTES) throw new UnreadableWorkbook(TOO_LARGE);
      if (entry.isEncrypted()) throw new UnreadableWorkbook(PASSWORD);
      entries.set(entry.fileName.toLowerCase(), entry);
    }
  });
  const entryAt = (path: string): Entry => {
    const entry = entries.get(path.toLowerCase());
    if (entry === undefined) throw new UnreadableWorkbook();
    return entry;
  };

  return {
    has: (path) => entries.has(path.toLowerCase()),
    bytesOf: (path) => entryAt(path).uncompressedSize,
    async *read(path) {
      const entry = entryAt(path);
      let stream: Readable | undefined;
      try {
        stream = await zip.openReadStreamPromise(entry);
        yield* stream as AsyncIterable<Buffer>;
      } catch (error) {
        throw toUnreadable(error);
      } finally {
        stream?.destroy();
      }
    },
  };
}

async function damagedUnlessSystem<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toUnreadable(error);
  }
}

/** Errors of the archive have no system call; those of the disk have. */
const toUnreadable = (error: unknown): unknown =>
  error instanceof UnreadableWorkbook || (error instanceof Error && 'syscall' in error)
    ? error
    : new UnreadableWorkbook(DAMAGED, { cause: error });
