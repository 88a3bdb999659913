/** Opens a ZIP archive and reads its parts, within limits of memory and time. */
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import sax from 'sax';
import { type Entry, fromFdPromise } from 'yauzl';

/** Limit of bytes that all parts unpack to: a small file may unpack to any size. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Limit of one text, twice that of Excel: any number of cells may share it, and each is read. */
export const MAX_TEXT_CHARACTERS = 65_535;
export const LONG_TEXT = `a text of more than ${MAX_TEXT_CHARACTERS} characters`;
/** Limit of parts: a workbook has a few for each sheet and picture. */
const MAX_PARTS = 10_000;

const DAMAGED = 'The workbook is damaged. Open it in a spreadsheet, save it as .xlsx and import it again.';
const TOO_LARGE =
  'The workbook unpacks to more than 256 MB. Save the sheet as "CSV UTF-8" and import that file.';
export const PASSWORD = 'The workbook has a password. Remove it, save the workbook and import it again.';

/** The reason why a workbook cannot be read, with a message for the operator. */
export class UnreadableWorkbook extends Error {
  /** The row with the fault; undefined for the row that is being read. */
  readonly line: number | undefined;

  constructor(message = DAMAGED, options: ErrorOptions & { line?: number } = {}) {
    super(message, options);
    this.name = 'UnreadableWorkbook';
    this.line = options.line;
  }
}

export type Archive = Awaited<ReturnType<typeof openArchive>>;

/**
 * Adds up the declared sizes before anything is unpacked, and stops reading a part that turns out to be
 * larger than it declares, so that no reading ever unpacks more than the maximum.
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
    /** Number of bytes that a part unpacks to. */
    bytesOf: (path: string) => entryAt(path).uncompressedSize,
    /** @throws UnreadableWorkbook if there is no such part, or it unpacks to more than it declares */
    async *read(path: string): AsyncGenerator<Buffer> {
      const entry = entryAt(path);
      let stream: Readable | undefined;
      try {
        stream = await zip.openReadStreamPromise(entry);
        yield* stream as AsyncIterable<Buffer>;
      } catch (error) {
        throwUnreadable(error);
      } finally {
        stream?.destroy();
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

/** Errors of the archive have no system call; those of the disk have. */
function throwUnreadable(error: unknown): never {
  if (error instanceof UnreadableWorkbook || (error instanceof Error && 'syscall' in error)) throw error;
  throw new UnreadableWorkbook(DAMAGED, { cause: error });
}

// XML of a workbook's parts as events, by sax

interface XmlEvents {
  /** @param name without the prefix of its namespace */
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  /** Part of a text: a long one comes in several. */
  text?(text: string): void;
}

/** Limit of an element's attributes, all of which are in memory. Elements of workbooks have a dozen. */
const MAX_ATTRIBUTES = 1_000;
/** Limit of nested elements, which are in memory until they are closed. Workbooks nest ten deep. */
const MAX_DEPTH = 100;

/**
 * Reads a part that is entirely in UTF-8, which both Excel and LibreOffice write. An entity that it declares
 * is an error and never expanded.
 * @returns a function that takes the part in chunks, and its end as undefined; it throws UnreadableWorkbook
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
  parser.onerror = (error) => {
    throw new UnreadableWorkbook(undefined, { cause: error });
  };
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
