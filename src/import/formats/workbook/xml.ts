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

/**
 * Reads a part that is entirely in UTF-8, which both Excel and LibreOffice write. An entity that it declares
 * is an error and never expanded.
 * @returns takes the part in chunks, and its end as undefined; throws UnreadableWorkbook
 */
export function createXmlReader(events: XmlEvents): (chunk: Buffer | undefined) => void {
  const parser = sax.parser(true, { position: false });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  parser.onopentag = ({ name, attributes }) =>
    events.open(localName(name), attributes as Record<string, string>);
  parser.onclosetag = (name) => events.close?.(localName(name));
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
