/** The objects that an export gives of each kind: those of the API, and entries with their member. */
import type { FieldGroup } from '../domain/values/declared-fields.ts';
import { type ShownProperties, shownObject } from '../json/declared-fields.ts';
import type { Schema } from '../json/schema.ts';
import type { Serialize } from '../json/serializer.ts';
import { SHOWN_OWNER } from '../json/shown/row-properties.ts';
import {
  SHOWN_COOPERATIVE_ROW,
  SHOWN_DELIVERY,
  SHOWN_LOAN,
  SHOWN_MEMBER,
  SHOWN_PAYMENT,
  SHOWN_SAVINGS_TRANSACTION,
} from '../json/shown/rows.ts';
import type { ExportedRows } from '../store/contract/exports.ts';
import type { ImportKind } from '../store/contract/import/import-session.ts';

interface Exported<Row> {
  readonly properties: ShownProperties<Row>;
  readonly schema: Schema;
  readonly serialize: Serialize<Row>;
  /** What it shows of persons. */
  readonly groups: readonly FieldGroup[];
}

const exported = <Row>(title: string, properties: ShownProperties<Row>): Exported<Row> => ({
  properties,
  ...shownObject(title, properties),
});

export const EXPORTED: { readonly [kind in ImportKind]: Exported<ExportedRows[kind]> } = {
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
