/** Files that are neither text nor a workbook, and what to do with them. */
import type { FileContent } from './source/file-content.ts';

const SAVE = 'Save it as .xlsx or "CSV UTF-8" and import that file.';

/** How a file begins → what it is. */
const BEGINNINGS: readonly [string, string][] = [
  // Also what a workbook with a password is wrapped in.
  ['\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1', `This is an .xls file or has a password. ${SAVE}`],
  ['%PDF', 'This is a PDF document, whose rows cannot be read. Ask for the spreadsheet it was made from.'],
  ['{\\rtf', `This is a text document, not a spreadsheet. ${SAVE}`],
  ['\u001f\u008b', 'This is a compressed file. Unpack it and import what it contains.'],
  ['Rar!', 'This is a compressed file. Unpack it and import what it contains.'],
  ["7z\u00bc\u00af'\u001c", 'This is a compressed file. Unpack it and import what it contains.'],
];

/**
 * @param isUtf16 whether NUL characters are part of the encoding
 * @returns the refusal of a file that is not text; undefined for one that may be
 */
export function refusalOf({ head, hasNul }: FileContent, isUtf16: boolean): string | undefined {
  const start = head.toString('latin1', 0, 512);
  const known = BEGINNINGS.find(([beginning]) => start.startsWith(beginning));
  if (known !== undefined) return known[1];
  // Many programs write a web page and call it .xls.
  if (/^(?:\u00ef\u00bb\u00bf)?\s*<[!?a-z]/i.test(start))
    return `This is a web page or an XML document, whatever its name says. Open it in a spreadsheet. ${SAVE}`;
  if (hasNul && !isUtf16) return `This is not a text file: it contains NUL characters. ${SAVE}`;
  return undefined;
}
