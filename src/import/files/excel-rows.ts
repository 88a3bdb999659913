/** Reads an Excel workbook (.xlsx): the list of its sheets, and the rows of one sheet. */

import { cellError } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import {
  type Archive,
  createXmlReader,
  LONG_TEXT,
  MAX_TEXT_CHARACTERS,
  readXml,
  UnreadableWorkbook,
} from './archive.ts';
import type { FileRecord } from './records.ts';
import {
  type CellContent,
  createSheetRows,
  FORMULA_WITHOUT_VALUE,
  MAX_COLUMNS,
  MAX_ROW,
  type MergedRange,
  refuseRow,
  type SheetLayout,
} from './sheet-rows.ts';
import {
  dateText,
  fractionDigitsOf,
  numberText,
  percentText,
  roundedDate,
  roundText,
} from './workbook-values.ts';

// Parts that concern all sheets: sheet names, shared texts and styles

/** Maximum number of relationships, of formats and of styles. No spreadsheet program writes so many. */
const MAX_ITEMS = 100_000;

export interface ExcelSheet {
  readonly name: string;
  readonly path: string;
}

const isTrue = (attribute: string | undefined): boolean => attribute === '1' || attribute === 'true';

type Workbook = Awaited<ReturnType<typeof readWorkbook>>;

/** @throws UnreadableWorkbook */
export async function readWorkbook(archive: Archive) {
  const root = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument');
  if (root === undefined) throw new UnreadableWorkbook();
  const relations = await relationsOf(archive, root.path);
  const pathOf = (type: string) =>
    relations.find((relation) => relation.type === type && archive.has(relation.path))?.path;
  const byId = new Map(relations.map((relation) => [relation.id, relation]));
  const sheets = new Map<string, ExcelSheet>();
  let is1904 = false;
  await readXml(archive.read(root.path), {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = isTrue(attributes.date1904);
      if (name !== 'sheet') return;
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1];
      const part = byId.get(id ?? '');
      // Skips chart sheets, which have no rows, and a part named twice, which would be read twice.
      if (part?.type !== 'worksheet' || sheets.has(part.path)) return;
      sheets.set(part.path, { name: attributes.name ?? '', path: part.path });
    },
  });
  const [texts, styles] = [pathOf('sharedStrings'), pathOf('styles')];
  return {
    sheets: [...sheets.values()],
    /** True if dates count days from 1904, as Excel for the Macintosh did. */
    is1904,
    // Cells refer to texts and styles by index.
    texts: texts === undefined ? [] : await readTexts(archive, texts),
    styles: styles === undefined ? [] : await readStyles(archive, styles),
  };
}

/** Reads the relationships of a part, or of the archive if the path is empty. */
async function relationsOf(archive: Archive, path: string) {
  const [, folder = '', file = ''] = /^(.*\/)?([^/]*)$/.exec(path) ?? [];
  const relations: { id: string; type: string; path: string }[] = [];
  const part = `${folder}_rels/${file}.rels`;
  if (!archive.has(part)) return relations;
  await readXml(archive.read(part), {
    open(name, { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode }) {
      if (name !== 'Relationship' || mode === 'External') return;
      if (relations.length === MAX_ITEMS) throw new UnreadableWorkbook();
      relations.push({ id, type: type.slice(type.lastIndexOf('/') + 1), path: resolve(folder, target) });
    },
  });
  return relations;
}

/** Resolves the target of a relationship. A target with `/` at its start is a path from the archive root. */
const resolve = (folder: string, target: string): string =>
  new URL(target.replaceAll('%', '%25'), `part:///${folder}`).pathname.slice(1).replaceAll('%25', '%');

async function readTexts(archive: Archive, path: string): Promise<string[]> {
  const texts: string[] = [];
  let text = '';
  let isCollected = false;
  let isPhonetic = false;
  await readXml(archive.read(path), {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') isPhonetic = true;
      else if (name === 't') isCollected = !isPhonetic;
    },
    text(part) {
      if (isCollected) text += part;
      if (text.length > MAX_TEXT_CHARACTERS)
        throw new UnreadableWorkbook(
          `The workbook has ${LONG_TEXT}. Delete it, save the workbook and import it again.`,
        );
    },
    close(name) {
      if (name === 't') isCollected = false;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'si') texts.push(unescapeText(text));
    },
  });
  return texts;
}

/** Decodes escapes such as `_x000D_`. Excel escapes characters that XML cannot contain, and underscores. */
const unescapeText = (text: string): string =>
  text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

async function readStyles(archive: Archive, path: string): Promise<NumberStyle[]> {
  const codes = new Map<string, string>();
  const ids: string[] = [];
  let isCellStyle = false;
  await readXml(archive.read(path), {
    open(name, { numFmtId: id = '0', formatCode: code = '' }) {
      if (name === 'numFmt') codes.set(id, code);
      else if (name === 'cellXfs') isCellStyle = true;
      else if (name === 'xf' && isCellStyle) ids.push(id);
      if (codes.size > MAX_ITEMS || ids.length > MAX_ITEMS) throw new UnreadableWorkbook();
    },
    close(name) {
      if (name === 'cellXfs') isCellStyle = false;
    },
  });
  return ids.map((id) => numberStyleOf(Number(id), codes.get(id)));
}

interface NumberStyle {
  readonly kind: 'number' | 'date' | 'percent';
  /** Number of displayed digits after the point; undefined for a format that displays as many as fit. */
  readonly fractionDigits?: number | undefined;
  /** Minimum number of displayed digits before the point, with leading zeros, as in a code such as 0042. */
  readonly integerDigits?: number | undefined;
}

const PLAIN: NumberStyle = { kind: 'number' };
const DATE: NumberStyle = { kind: 'date' };

/** Digits after the point in built-in number formats, by id. A workbook does not contain their codes. */
const BUILT_IN_DIGITS: ReadonlyMap<number, number> = new Map([
  ...[1, 3, 5, 6, 9, 37, 38].map((id) => [id, 0] as const),
  ...[2, 4, 7, 8, 10, 39, 40].map((id) => [id, 2] as const),
]);

/** True for built-in date formats (ECMA-376 part 1, 18.8.30). Ids 27 to 58 occur in Asian editions. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || id === 45 || id === 47 || (id >= 50 && id <= 58);

/** Maximum length of a format code in Excel. */
const MAX_CODE_CHARACTERS = 255;

/** @param code format code such as `dd/mm/yyyy hh:mm`; undefined for a built-in format */
function numberStyleOf(id: number, code: string | undefined): NumberStyle {
  if (code !== undefined && code.length > MAX_CODE_CHARACTERS) return PLAIN;
  if (code === undefined) {
    if (isBuiltInDate(id)) return DATE;
    return { kind: id === 9 || id === 10 ? 'percent' : 'number', fractionDigits: BUILT_IN_DIGITS.get(id) };
  }
  // Removes texts, escapes, padding and fill characters. The format of positive numbers comes first.
  const [positive = ''] = code.replace(/"[^"]*"|\\.|[_*]./g, '').split(';');
  // [h]:mm is a number of elapsed hours, not a time of day.
  if (/\[(?:h+|m+|s+)\]/i.test(positive)) return PLAIN;
  const plain = positive.replace(/\[[^\]]*\]/g, '');
  if (/^\s*general\s*$/i.test(plain)) return PLAIN;
  if (/[dmyhs]/i.test(plain)) return DATE;
  const [, before = '', after = '', last] =
    /^[^0#?]*([0#?,]*[0#?])(?:\.([0#?]*))?(,?)[^0#?]*$/.exec(plain) ?? [];
  // A comma after the last digit divides the displayed number by 1,000.
  const digits = before === '' || last === ',' || /[eE]/.test(plain) ? undefined : after.length;
  return {
    kind: plain.includes('%') ? 'percent' : 'number',
    fractionDigits: digits,
    integerDigits: digits === 0 && /^#*00+$/.test(before) ? before.replaceAll('#', '').length : undefined,
  };
}

// Hidden columns and merged cells. The XML lists hidden columns before the rows, and merged cells after them.

/** Maximum number of merged ranges, which are all in memory. */
const MAX_MERGES = 100_000;
const TOO_MANY_MERGES =
  'The sheet has more than 100,000 merged ranges. Undo the merges, save the workbook and import it again.';

/** @throws UnreadableWorkbook for too many merged ranges; other faults are reported when the rows are read */
export async function readAroundRows(archive: Archive, path: string) {
  const merges: MergedRange[] = [];
  const hiddenColumns = new Set<number>();
  try {
    await readXml(withoutRows(archive.read(path)), {
      open(name, { min, max, hidden, ref = '' }) {
        if (name === 'col' && isTrue(hidden))
          for (let i = Number(min); i <= Math.min(Number(max), MAX_COLUMNS); i++) hiddenColumns.add(i - 1);
        if (name !== 'mergeCell' || merges.length > MAX_MERGES) return;
        const [first = '', last = first] = ref.split(':');
        merges.push({
          top: lineOf(first),
          bottom: lineOf(last),
          left: columnOf(first),
          right: columnOf(last),
        });
      },
    });
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
  }
  if (merges.length > MAX_MERGES) throw new UnreadableWorkbook(TOO_MANY_MERGES);
  return { hiddenColumns, merges: merges.sort((one, other) => one.top - other.top) };
}

const ROWS = 'sheetData';
/** Maximum length of the `sheetData` tag with a namespace prefix, in bytes. */
const LONGEST_TAG = 200;

/** Yields the XML of a sheet before and after the rows. Skips the rows, the largest part, without parsing. */
async function* withoutRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let part: 'before' | 'rows' | 'after' = 'before';
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    rest = Buffer.alloc(0);
    if (part === 'before') {
      const at = bytes.indexOf(ROWS);
      const end = at < 0 ? -1 : bytes.indexOf('>', at);
      if (end < 0) {
        const complete = Math.max(0, at < 0 ? bytes.length - ROWS.length : at);
        yield bytes.subarray(0, complete);
        rest = bytes.subarray(complete);
        if (rest.length > LONGEST_TAG) throw new UnreadableWorkbook();
        continue;
      }
      yield bytes.subarray(0, end + 1);
      part = bytes.toString('latin1', end - 1, end) === '/' ? 'after' : 'rows';
      bytes = bytes.subarray(end + 1);
    }
    if (part === 'rows') {
      const end = endOfRows(bytes);
      if (end < 0) {
        rest = bytes.subarray(-LONGEST_TAG);
        continue;
      }
      part = 'after';
      bytes = bytes.subarray(end);
    }
    yield bytes;
  }
  yield rest;
}

/** Returns the start of `</sheetData>`, or -1. A text may contain the name of the tag, but no `<`. */
function endOfRows(bytes: Buffer): number {
  for (let at = 0; ; at++) {
    at = bytes.indexOf(`${ROWS}>`, at);
    if (at < 0) return -1;
    const start = bytes.lastIndexOf('<', at);
    if (start >= 0 && /^<\/(?:[\w.-]+:)?$/.test(bytes.toString('latin1', start, at))) return start;
  }
}

const lineOf = (place: string): number => Number(/[0-9]+$/.exec(place)?.[0] ?? 0);

type StoredCell = ReturnType<typeof startCell>;

const startCell = ({ r: place, t: type = 'n', s: style }: Readonly<Record<string, string>>) => ({
  place,
  /** Cell type (ECMA-376 part 1, 18.18.11): `n` for a number, `s` a shared text, `str` a formula's text. */
  type,
  style: Number(style ?? Number.NaN),
  value: '',
  inlineText: '',
  hasFormula: false,
});

function textOf({ type, value, inlineText }: StoredCell, { texts }: Workbook): string {
  switch (type) {
    case 's': {
      const text = value === '' ? '' : texts[Number(value)];
      if (text === undefined) throw new UnreadableWorkbook();
      return text;
    }
    case 'inlineStr':
      return unescapeText(inlineText);
    case 'b':
      return value === '' ? '' : isTrue(value) ? 'TRUE' : 'FALSE';
    case 'd':
      return roundedDate(value);
    default:
      return unescapeText(value);
  }
}

function numericContent({ value, style }: StoredCell, { styles, is1904 }: Workbook): CellContent {
  const stored = value.trim();
  if (stored === '') return { text: '' };
  const number = Number(stored);
  const { kind, fractionDigits, integerDigits = 0 } = styles[style] ?? PLAIN;
  const date = kind === 'date' ? dateText(number, is1904) : undefined;
  if (date !== undefined) return { text: date };
  const text = kind === 'percent' ? percentText(number) : numberText(number);
  if (text === undefined) return { text: stored };
  if (/^[0-9]+$/.test(text)) return { text: text.padStart(integerDigits, '0'), isNumber: true };
  const isRounded = fractionDigits !== undefined && fractionDigitsOf(text) > fractionDigits;
  return { text, isNumber: true, shown: isRounded ? roundText(text, fractionDigits) : undefined };
}

function contentOf(cell: StoredCell, workbook: Workbook): CellContent {
  const { type, value, inlineText, hasFormula } = cell;
  // A formula of type `str` may have an empty text as its value.
  if (hasFormula && type !== 'str' && value.trim() === '' && inlineText === '')
    return { text: '', fault: FORMULA_WITHOUT_VALUE };
  if (type === 'n') return numericContent(cell, workbook);
  const text = textOf(cell, workbook);
  return type === 'e' ? { text, fault: cellError(text) } : { text };
}

/**
 * Yields the non-empty rows of a sheet up to a fault, then throws.
 * @param merges merged ranges in order of their first line
 * @throws UnreadableWorkbook
 */
export async function* readExcelRows(
  archive: Archive,
  workbook: Workbook,
  path: string,
  layout: SheetLayout,
  merges: readonly MergedRange[] = [],
): AsyncGenerator<{ readonly records: FileRecord[]; readonly unpackedBytes: number }> {
  let records: FileRecord[] = [];
  let cell: StoredCell | undefined;
  let collected: 'value' | 'inlineText' | undefined;
  let isPhonetic = false;
  /** Column index of the next cell, for a cell without a reference. */
  let next = 0;
  let mergesRead = 0;
  const rows = createSheetRows(layout);

  const write = createXmlReader({
    open(name, attributes) {
      if (name === 'row') {
        rows.start(lineAfter(rows.line(), attributes.r), isTrue(attributes.hidden));
        next = 0;
      } else if (name === 'c' && rows.line() > 0) cell = startCell(attributes);
      else if (cell === undefined) return;
      else if (name === 'v') collected = 'value';
      else if (name === 'f') cell.hasFormula = true;
      else if (name === 'rPh') isPhonetic = true;
      else if (name === 't' && !isPhonetic) collected = 'inlineText';
    },
    text(part) {
      if (cell === undefined || collected === undefined) return;
      cell[collected] += part;
      if (cell[collected].length > MAX_TEXT_CHARACTERS) throw refuseRow(rows.line(), LONG_TEXT);
    },
    close(name) {
      if (name === 'v' || name === 't') collected = undefined;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'c' && cell !== undefined) {
        const index = cell.place === undefined ? next : columnOf(cell.place);
        next = index + 1;
        rows.add(index, contentOf(cell, workbook));
        cell = undefined;
      } else if (name === 'row') {
        for (; (merges[mergesRead]?.top ?? MAX_ROW + 1) <= rows.line(); mergesRead++)
          rows.merge(merges[mergesRead] as MergedRange);
        const record = rows.end();
        if (record !== undefined) records.push(record);
      }
    },
  });

  let unpackedBytes = 0;
  try {
    for await (const chunk of archive.read(path)) {
      unpackedBytes += chunk.length;
      write(chunk);
      yield { records, unpackedBytes };
      records = [];
    }
    write(undefined);
  } catch (error) {
    yield { records, unpackedBytes };
    throw error;
  }
}

/** Returns the line of the next row. A row without a number is on the line after the last row. */
function lineAfter(lastLine: number, number: string | undefined): number {
  const line = number === undefined ? lastLine + 1 : Number(number);
  if (!Number.isInteger(line) || line <= lastLine || line > MAX_ROW) throw new UnreadableWorkbook();
  return line;
}

/** Returns the column index of a cell reference: 1 for `B7`. */
function columnOf(place: string): number {
  let column = 0;
  for (let i = 0; i < place.length; i++) {
    const letter = place.charCodeAt(i) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  if (column === 0 || column > 16_384) throw new UnreadableWorkbook();
  return column - 1;
}
