/** Workbooks made byte by byte, as Excel and LibreOffice write them, and as an attacker would. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  readonly name: string;
  readonly content: string | Buffer;
  /** What it says it unpacks to, when that is a lie. */
  readonly declaredBytes?: number;
  /** What its checksum was made of, if it was damaged since. */
  readonly written?: string;
  /** General purpose bits: 1 encrypted. */
  readonly flags?: number;
}

/** A ZIP archive of these parts. */
export function zipOf(parts: readonly ZipPart[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, declaredBytes, written, flags = 0 } of parts) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    // Version, flags, method, time, date, CRC-32, sizes, length of the name.
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(written ?? bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(declaredBytes ?? bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fields, place, Buffer.from(name));
    bodies.push(local);
    offset += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length % 0x10000, 4);
  end.writeUInt16LE(parts.length % 0x10000, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, index, Buffer.from('PK\u0005\u0006'), end]);
}

export interface MadeSheet {
  readonly name: string;
  /** The inner XML of `sheetData`. */
  readonly rows: string;
  /** XML before and after `sheetData`. */
  readonly before?: string;
  readonly after?: string;
}

export interface MadeWorkbook {
  readonly sheets: readonly MadeSheet[];
  /** The inner XML of each shared text. */
  readonly texts?: readonly string[];
  /** The format of the numbers of each style: an id, or a code that is given one. */
  readonly formats?: readonly (number | string)[];
  readonly is1904?: boolean;
  readonly more?: readonly ZipPart[];
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (...targets: [type: string, target: string][]): string =>
  `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets
    .map(([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${TYPES}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** The parts of a workbook. */
export function workbookParts({ sheets, texts, formats = [], is1904, more = [] }: MadeWorkbook): ZipPart[] {
  const names = sheets.map(({ name }, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`);
  const codes = formats.map((format, i) =>
    typeof format === 'number' ? '' : `<numFmt numFmtId="${164 + i}" formatCode="${escapeXml(format)}"/>`,
  );
  const styles = formats.map(
    (format, i) => `<xf numFmtId="${typeof format === 'number' ? format : 164 + i}"/>`,
  );
  return [
    { name: '[Content_Types].xml', content: `${HEAD}<Types/>` },
    { name: '_rels/.rels', content: relations(['officeDocument', 'xl/workbook.xml']) },
    {
      name: 'xl/workbook.xml',
      content:
        `${HEAD}<workbook ${MAIN} xmlns:r="${TYPES}"><workbookPr${is1904 ? ' date1904="1"' : ''}/>` +
        `<sheets>${names.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relations(
        ...sheets.map((_, i): [string, string] => ['worksheet', `worksheets/sheet${i + 1}.xml`]),
        ['styles', '/xl/styles.xml'],
        ...(texts === undefined ? [] : [['sharedStrings', 'sharedStrings.xml'] as [string, string]]),
      ),
    },
    {
      name: 'xl/styles.xml',
      content:
        `${HEAD}<styleSheet ${MAIN}><numFmts>${codes.join('')}</numFmts>` +
        `<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
    },
    ...(texts === undefined
      ? []
      : [
          {
            name: 'xl/sharedStrings.xml',
            content: `${HEAD}<sst ${MAIN}>${texts.map((text) => `<si>${text}</si>`).join('')}</sst>`,
          },
        ]),
    ...sheets.map(({ rows, before = '', after = '' }, i) => ({
      name: `xl/worksheets/sheet${i + 1}.xml`,
      content:
        `${HEAD}<worksheet ${MAIN}><dimension ref="A1"/>${before}` +
        `<sheetData>${rows}</sheetData>${after}</worksheet>`,
    })),
    ...more,
  ];
}

export const workbookOf = (workbook: MadeWorkbook): Buffer => zipOf(workbookParts(workbook));

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Rows of texts and numbers, from row 1 on; an empty text is an omitted cell. */
export const rowsOf = (...rows: readonly (readonly (string | number)[])[]): string =>
  rows
    .map(
      (cells, i) =>
        `<row r="${i + 1}">${cells
          .map((cell, column) => cellOf(`${String.fromCharCode(65 + column)}${i + 1}`, cell))
          .join('')}</row>`,
    )
    .join('');

function cellOf(place: string, cell: string | number): string {
  if (cell === '') return '';
  if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
  return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(cell)}</t></is></c>`;
}
