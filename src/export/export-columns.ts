/** Columns of exports (docs/exporting.md#columns). Imports accept all, and ignore those they do not read. */

import type { CellType } from '../formats/write-csv-and-workbooks.ts';
import { byKind, FILE_COLUMNS, type ImportKind } from '../registry/file-columns.ts';
import type { Owner } from '../registry/loans.ts';
import {
  SHOWN_COOPERATIVE_ROW,
  SHOWN_DELIVERY,
  SHOWN_LOAN,
  SHOWN_MEMBER,
  SHOWN_OWNER,
  SHOWN_PAYMENT,
  SHOWN_SAVINGS_TRANSACTION,
} from '../registry/shown-rows.ts';
import { labelOf } from '../values/choice-labels.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { formatDecimal, MONEY } from '../values/decimal.ts';
import { type ShownProperties, shownObject } from '../values/field-json.ts';
import { inLanguage, type Language } from '../values/language.ts';
import type { Schema } from '../values/schema.ts';
import type { ExportedOwner, ExportedRow, ExportedRows } from './exported-rows.ts';

const exported = <Row>(title: string, properties: ShownProperties<Row>) => ({
  properties,
  ...shownObject(title, properties),
});

/** Exported objects. One with properties of its own needs a new title: `SHOWN_…` are API responses. */
export const EXPORTED: {
  readonly [kind in ImportKind]: ReturnType<typeof exported<ExportedRows[kind]>>;
} = {
  cooperatives: exported('Cooperative', SHOWN_COOPERATIVE_ROW),
  members: exported('Member', SHOWN_MEMBER),
  production: exported<ExportedRows['production']>('ExportedDelivery', { ...SHOWN_DELIVERY, ...SHOWN_OWNER }),
  loans: exported('Loan', SHOWN_LOAN),
  payments: exported('Payment', SHOWN_PAYMENT),
  savings: exported<ExportedRows['savings']>('ExportedSavingsTransaction', {
    ...SHOWN_SAVINGS_TRANSACTION,
    ...SHOWN_OWNER,
  }),
};

interface ExportColumn<Row> {
  readonly name: string;
  readonly type: CellType;
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

/** Imports read the opening balance from `paid_amount`, so exports write it there. */
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

/** Columns that replace a property: `IN_PLACE` in one kind, `NESTED` in all kinds. */
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

const EXPORT_COLUMNS = byKind((kind) => columnsOf(kind) as unknown as Columns<ExportedRow>);

/** @param labels language of headings and choices; names of the API if undefined */
export const exportColumns = (kind: ImportKind, labels: Language | undefined): Columns<ExportedRow> =>
  labels === undefined ? EXPORT_COLUMNS[kind] : labelledColumns(kind, labels);

/** Translates headings and choices, as the desk does. Leaves out columns that imports do not read. */
function labelledColumns(kind: ImportKind, language: Language): Columns<ExportedRow> {
  return FILE_COLUMNS[kind].flatMap(({ name, label, field }) => {
    const column = EXPORT_COLUMNS[kind].find((candidate) => candidate.name === name);
    if (column === undefined) return [];
    const read: typeof column.read = (row, zone) => {
      const value = column.read(row, zone);
      return value === null ? null : inLanguage(labelOf(value), language);
    };
    return {
      ...column,
      name: inLanguage(label, language),
      read: field.kind === 'choice' ? read : column.read,
    };
  });
}
