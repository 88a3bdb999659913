/** Reads the parts of an Excel workbook that concern all sheets: sheet names, shared texts and styles. */
import { type Archive, LONG_TEXT, MAX_TEXT_CHARACTERS, readXml, UnreadableWorkbook } from './archive.ts';

/** Maximum number of relationships, of formats and of styles. No spreadsheet program writes so many. */
const MAX_ITEMS = 100_000;

export interface Sheet {
  readonly name: string;
  /** Path of the sheet's part in the archive. */
  readonly path: string;
}

export type Workbook = Awaited<ReturnType<typeof readWorkbook>>;

/** @throws UnreadableWorkbook */
export async function readWorkbook(archive: Archive) {
  const root = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument');
  if (root === undefined) throw new UnreadableWorkbook();
  const relations = await relationsOf(archive, root.path);
  const pathOf = (type: string) =>
    relations.find((relation) => relation.type === type && archive.has(relation.path))?.path;
  const byId = new Map(relations.map((relation) => [relation.id, relation]));
  const sheets = new Map<string, Sheet>();
  let is1904 = false;
  await readXml(archive.read(root.path), {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = ['1', 'true'].includes(attributes.date1904 ?? '');
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
    /** Texts that cells refer to by index. */
    texts: texts === undefined ? [] : await readTexts(archive, texts),
    /** Styles that cells refer to by index. */
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

/** Resolves the target of a relationship: a path from the root of the archive if it begins with `/`. */
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
export const unescapeText = (text: string): string =>
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

/** Number format of a cell. */
interface NumberStyle {
  readonly kind: 'number' | 'date' | 'percent';
  /** Number of displayed digits after the point; undefined for a format that displays as many as fit. */
  readonly fractionDigits?: number | undefined;
  /** Minimum number of displayed digits before the point, with leading zeros, as in a code such as 0042. */
  readonly integerDigits?: number | undefined;
}

export const PLAIN: NumberStyle = { kind: 'number' };
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
  // The format of positive numbers comes first. Removes texts, escapes, padding and fill characters.
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
