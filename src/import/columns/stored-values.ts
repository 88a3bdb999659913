/** A value as it is stored → as the API shows it (docs/api.md#formats), for lists of changes. */
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { formatDecimal } from '../../domain/values/decimal.ts';
import { listFields, type ValueKind } from '../../domain/values/declared-fields.ts';
import { FILE_FIELDS } from '../../store/contract/import/import-columns.ts';
import type { StagedValue } from '../../store/contract/import/import-session.ts';

/** Kept for each row and declared by none. */
const TIMESTAMPS = ['created_at', 'updated_at'].map((name): [string, ValueKind] => [
  name,
  { kind: 'instant' },
]);

const KINDS: ReadonlyMap<string, ValueKind> = new Map([
  ...TIMESTAMPS,
  ...FILE_FIELDS.flatMap(listFields).flatMap((field) =>
    [field.name, field.nameInFiles ?? field.name].map((name): [string, ValueKind] => [name, field]),
  ),
]);

/**
 * What the values of a column are, which is the same in every kind of row.
 * @returns undefined for what is shown as it is stored, such as an id
 */
export const kindOf = (column: string): ValueKind | undefined => KINDS.get(column);

/**
 * @param column of an import file, or a field of the history
 * @param value in minor units, grams or epoch seconds where it is a number
 */
export function formatStored(column: string, value: StagedValue, zone: TimeZone): string | null {
  if (typeof value !== 'number') return value;
  const field = kindOf(column);
  if (field?.kind === 'decimal') return formatDecimal(value, field.decimal.fractionDigits);
  const isInstant = field?.kind === 'instant' || field?.kind === 'past_instant';
  return isInstant ? formatDateTime(value, zone) : String(value);
}
