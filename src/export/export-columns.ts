/**
 * The columns of exports: those of the objects of the API, with the cooperative and the member in columns of
 * their own, and under the names by which an import reads them (docs/exporting.md#columns).
 */
import type { Owner } from '../domain/lending/loans.ts';
import { labelOf } from '../domain/values/choice-labels.ts';
import { formatDateTime, type TimeZone } from '../domain/values/date-time.ts';
import { formatDecimal, MONEY } from '../domain/values/decimal.ts';
import type { ShownProperties } from '../json/declared-fields.ts';
import type { Schema } from '../json/schema.ts';
import { inLanguage, type Language } from '../language/language.ts';
import type { ExportedOwner, ExportedRows } from '../store/contract/exports.ts';
import { FILE_COLUMNS } from '../store/contract/import/import-columns.ts';
import { IMPORT_KINDS, type ImportKind } from '../store/contract/import/import-session.ts';
import { EXPORTED } from './exported-objects.ts';

export interface ExportColumn<Row> {
  readonly name: string;
  /** What a workbook makes of the text. */
  readonly type: 'text' | 'number' | 'date' | 'instant';
  readonly read: (row: Row, zone: TimeZone) => string | null;
}

type Columns<Row> = readonly ExportColumn<Row>[];

const text = <Row>(name: string, read: ExportColumn<Row>['read']): ExportColumn<Row> => ({
  name,
  type: 'text',
  read,
});

const OF_COOPERATIVE: Columns<Pick<Owner, 'cooperativeId' | 'cooperativeCode' | 'cooperativeName'>> = [
  text('cooperative_id', ({ cooperativeId }) => String(cooperativeId)),
  text('cooperative_code', ({ cooperativeCode }) => cooperativeCode),
  text('cooperative_name', ({ cooperativeName }) => cooperativeName),
];

const OF_MEMBER: Columns<ExportedOwner> = [
  text('member_id', ({ memberId }) => String(memberId)),
  text('member_code', ({ memberCode }) => memberCode),
  text('identity_card', ({ identityCard }) => identityCard),
  text('full_name', ({ fullName }) => fullName),
];

/** An import reads as the paid amount what was paid before payments were recorded. */
const PAID_BEFORE: Columns<ExportedRows['loans']> = [
  {
    name: 'paid_amount',
    type: 'number',
    read: ({ openingBalanceMinor }) => formatDecimal(openingBalanceMinor, MONEY.fractionDigits),
  },
  {
    name: 'paid_until',
    type: 'instant',
    read: ({ paidUntil }, zone) => (paidUntil === null ? null : formatDateTime(paidUntil, zone)),
  },
];

const OF_LOAN: Columns<ExportedRows['payments']> = [
  text('loan_id', ({ loanId }) => String(loanId)),
  text('loan_reference', ({ loanReference }) => loanReference),
];

/** The columns in the place of a property. */
const IN_PLACE: { readonly [kind in ImportKind]?: { readonly [property: string]: Columns<never> } } = {
  loans: { paid_amount: PAID_BEFORE },
  payments: { loan_id: OF_LOAN },
};
const NESTED: { readonly [property: string]: Columns<never> } = {
  cooperative: OF_COOPERATIVE,
  member: OF_MEMBER,
};

function typeOf(kind: ImportKind, name: string, { type, format }: Schema) {
  if (format === 'date') return 'date';
  if (format === 'date-time') return 'instant';
  const isDecimal = FILE_COLUMNS[kind].some(
    (column) => column.name === name && column.field.kind === 'decimal',
  );
  return isDecimal || type === 'integer' ? 'number' : 'text';
}

function columnsOf(kind: ImportKind): Columns<never> {
  const properties: ShownProperties<never> = EXPORTED[kind].properties;
  return Object.entries(properties).flatMap(([name, { schema, write }]): Columns<never> => {
    const columns = IN_PLACE[kind]?.[name] ?? NESTED[name];
    if (columns !== undefined) return columns;
    const read = typeof write === 'function' ? write : write.read;
    return [{ name, type: typeOf(kind, name, schema), read }];
  });
}

const EXPORT_COLUMNS = Object.fromEntries(IMPORT_KINDS.map((kind) => [kind, columnsOf(kind)])) as unknown as {
  readonly [kind in ImportKind]: Columns<ExportedRows[kind]>;
};

/** For people: what an import reads, under its labels, with the words of choices. */
function labelledColumns<Row>(kind: ImportKind, columns: Columns<Row>, language: Language): Columns<Row> {
  return FILE_COLUMNS[kind].flatMap(({ name, label, field }) => {
    const column = columns.find((each) => each.name === name);
    if (column === undefined) return [];
    const read: typeof column.read = (row, zone) => {
      const value = column.read(row, zone);
      return value === null ? null : inLanguage(labelOf(value), language);
    };
    return { ...column, name: inLanguage(label, language), ...(field.kind === 'choice' ? { read } : {}) };
  });
}

/** @param labels the language of headings and choices; without it, they are those of the API */
export function exportColumns<Kind extends ImportKind>(
  kind: Kind,
  labels?: Language,
): Columns<ExportedRows[Kind]> {
  const columns = EXPORT_COLUMNS[kind] as Columns<ExportedRows[Kind]>;
  return labels === undefined ? columns : labelledColumns(kind, columns, labels);
}
