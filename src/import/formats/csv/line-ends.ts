/** What ends a line: LF, CRLF, or CR only, as old spreadsheets write it. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export const LINE_END = /\r\n|\n|\r/;

/**
 * Where the last complete line of some bytes ends, 0 when there is none. A CR as the last byte may be half of
 * a CRLF, so it does not count as an end yet.
 */
export function endOfLastLine(bytes: Buffer): number {
  const feed = bytes.lastIndexOf(LINE_FEED);
  const lastByte = bytes.length - 1;
  const carriage = bytes.lastIndexOf(CARRIAGE_RETURN, lastByte - 1);
  return lastByte > 0 ? Math.max(feed, carriage) + 1 : feed + 1;
}

/** The lines of a text; what follows the last line end is one too, unless it is empty. */
export function splitLines(text: string): string[] {
  const lines = text.includes('\r') ? text.split(LINE_END) : text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** How many lines some bytes end, when a line may begin only after them. */
export const countLines = (bytes: Buffer): number => splitLines(bytes.toString('latin1')).length;
