/** A value as it is stored → as the API shows it (docs/api.md#formats), for lists of changes. */
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { formatDecimal } from '../../domain/values/decimal.ts';
import { listFields } from '../../domain/values/declared-fields.ts';
import { FILE_FIELDS } from '../../store/ports/import/import-columns.ts';
import type { StagedValue } from '../../store/ports/import/import-session.ts';

/** The numbers that are not instants; those of one name have the same unit in every kind. */
export const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map(
  FILE_FIELDS.flatMap(listFields).flatMap((field) => {
    if (field.kind !== 'decimal') return [];
    const { name, nameInFiles = name } = field;
    const { fractionDigits } = field.decimal;
    return [[name, fractionDigits] as const, [nameInFiles, fractionDigits] as const];
  }),
);

/**
 * @param column of an import file
 * @param value in minor units, grams or epoch seconds where it is a number
 */
export function formatStored(column: string, value: StagedValue, zone: TimeZone): string | null {
  if (typeof value !== 'number') return value;
  if (column.endsWith('_id')) return String(value);
  const digits = FRACTION_DIGITS.get(column);
  return digits === undefined ? formatDateTime(value, zone) : formatDecimal(value, digits);
}
