/** The XML of a workbook's part → events, by sax. */
import sax from 'sax';
import { UnreadableWorkbook } from './archive.ts';

export interface XmlEvents {
  /** @param name without the prefix of its name space */
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  /** Part of a text: a long one comes in several. */
  text?(text: string): void;
}

/** Of an element: it is in memory with all of them. Those of workbooks have a dozen. */
const MAX_ATTRIBUTES = 1_000;
/** Of elements in one another, which are in memory until they are closed: those of workbooks are ten deep. */
const MAX_DEPTH = 100;

/**
 * Reads a part that is entirely in UTF-8, which both Excel and LibreOffice write. An entity that it declares
 * is an error and never expanded.
 * @returns takes the part in chunks, and its end as undefined; throws UnreadableWorkbook
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

/** Reads an entire part. */
export async function readXml(chunks: AsyncIterable<Buffer>, events: XmlEvents): Promise<void> {
  const read = createXmlReader(events);
  for await (const chunk of chunks) read(chunk);
  read(undefined);
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
