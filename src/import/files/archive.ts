/** Opens a ZIP archive and reads its parts, with limits on memory and time. */
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import sax from 'sax';
import { type Entry, fromFdPromise } from 'yauzl';

/** Maximum size of all parts when unpacked, because a small archive may unpack to any size. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Maximum length of a text (twice Excel's), because any number of cells may refer to the same text. */
export const MAX_TEXT_CHARACTERS = 65_535;
export const LONG_TEXT = `a text of more than ${MAX_TEXT_CHARACTERS} characters`;
/** Maximum number of parts. A workbook has a few parts for each sheet and picture. */
const MAX_PARTS = 10_000;

const DAMAGED = 'The workbook is damaged. Open it in a spreadsheet, save it as .xlsx and import it again.';
const TOO_LARGE =
  'The workbook unpacks to more than 256 MB. Save the sheet as "CSV UTF-8" and import that file.';
export const SAVE = 'Save it as .xlsx or "CSV UTF-8" and import that file.';
export const COMPRESSED = 'This is a compressed file. Unpack it and import what it contains.';
export const PASSWORD = 'The workbook has a password. Remove it, save the workbook and import it again.';

export class UnreadableWorkbook extends Error {
  /** Row number of the fault; undefined for the row that is being read. */
  readonly line: number | undefined;

  constructor(message = DAMAGED, options: ErrorOptions & { line?: number } = {}) {
    super(message, options);
    this.name = 'UnreadableWorkbook';
    this.line = options.line;
  }
}

export type Archive = Awaited<ReturnType<typeof openArchive>>;

/**
 * Refuses an archive whose parts declare too large a total size. Stops reading a part that is larger than it
 * declares, so that no archive unpacks to more than the maximum.
 * @throws UnreadableWorkbook; the system's error
 */
export async function openArchive(handle: FileHandle) {
  const entries = new Map<string, Entry>();
  const zip = await readEntries(handle, entries).catch(throwUnreadable);
  const entryAt = (path: string): Entry => {
    const entry = entries.get(path.toLowerCase());
    if (entry === undefined) throw new UnreadableWorkbook();
    return entry;
  };
  return {
    has: (path: string) => entries.has(path.toLowerCase()),
    /** Returns the size that a part declares for its unpacked content, in bytes. */
    bytesOf: (path: string) => entryAt(path).uncompressedSize,
    /** Yields the unpacked part. Verifies its checksum, which yauzl does not. @throws UnreadableWorkbook */
    async *read(path: string): AsyncGenerator<Buffer> {
      const entry = entryAt(path);
      let checksum = 0;
      try {
        const stream: AsyncIterable<Buffer> = await zip.openReadStreamPromise(entry);
        for await (const chunk of stream) {
          checksum = crc32(chunk, checksum);
          yield chunk;
        }
        if (checksum !== entry.crc32) throw new UnreadableWorkbook();
      } catch (error) {
        throwUnreadable(error);
      }
    },
  };
}

async function readEntries({ fd }: FileHandle, entries: Map<string, Entry>) {
  const zip = await fromFdPromise(fd, { lazyEntries: true, autoClose: false, validateEntrySizes: true });
  if (zip.entryCount > MAX_PARTS) throw new UnreadableWorkbook(TOO_LARGE);
  let unpacked = 0;
  for await (const entry of zip.eachEntry()) {
    unpacked += entry.uncompressedSize;
    if (unpacked > MAX_UNPACKED_BYTES) throw new UnreadableWorkbook(TOO_LARGE);
    if (entry.isEncrypted()) throw new UnreadableWorkbook(PASSWORD);
    entries.set(entry.fileName.toLowerCase(), entry);
  }
  return zip;
}

/** Rethrows errors of the disk, which have a `syscall`. All other errors mean that the archive is damaged. */
function throwUnreadable(error: unknown): never {
  if (error instanceof UnreadableWorkbook || (error instanceof Error && 'syscall' in error)) throw error;
  throw new UnreadableWorkbook(DAMAGED, { cause: error });
}

interface XmlEvents {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  /** Called several times for a long text. */
  text?(text: string): void;
}

/** Maximum number of attributes of an element, which sax keeps in memory. Workbooks use about a dozen. */
const MAX_ATTRIBUTES = 1_000;
/** Maximum depth of elements, because sax keeps open elements in memory. Workbooks use about ten levels. */
const MAX_DEPTH = 100;

/**
 * Creates a parser for a part of a workbook in UTF-8, the encoding that Excel and LibreOffice write. An
 * entity that the part itself declares is an error and is never expanded.
 * @returns a function to call with each chunk of the part, then with undefined; throws UnreadableWorkbook
 */
export function createXmlReader(events: XmlEvents): (chunk: Buffer | undefined) => void {
  const parser = sax.parser(true, { position: false });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [depth, attributeCount] = [0, 0];
  parser.onattribute = () => {
    if (++attributeCount > MAX_ATTRIBUTES) throw new UnreadableWorkbook();
  };
  parser.onopentag = ({ name, attributes }) => {
    attributeCount = 0;
    if (++depth > MAX_DEPTH) throw new UnreadableWorkbook();
    events.open(localName(name), attributes as Record<string, string>);
  };
  parser.onclosetag = (name) => {
    depth--;
    events.close?.(localName(name));
  };
  parser.ontext = parser.oncdata = (text) => events.text?.(text);
  parser.onerror = throwUnreadable;
  return (chunk) => {
    try {
      if (chunk !== undefined) parser.write(decoder.decode(chunk, { stream: true }));
      else parser.write(decoder.decode()).close();
    } catch (error) {
      if (error instanceof TypeError) throw new UnreadableWorkbook(undefined, { cause: error });
      throw error;
    }
  };
}

export async function readXml(chunks: AsyncIterable<Buffer>, events: XmlEvents): Promise<void> {
  const read = createXmlReader(events);
  for await (const chunk of chunks) read(chunk);
  read(undefined);
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
