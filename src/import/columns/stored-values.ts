/** A value as it is stored → as the API shows it (docs/api.md#formats), for lists of changes. */
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { formatDecimal, MONEY } from '../../domain/values/decimal.ts';
import { IMPORT_KINDS, type StagedValue } from '../../store/ports/import-session.ts';
import { IMPORT_COLUMNS } from './columns.ts';

/** The columns of numbers that are no instants; those of one name have the same unit in every kind. */
const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map([
  ['opening_balance', MONEY.fractionDigits] as const,
  ...IMPORT_KINDS.flatMap((kind) =>
    IMPORT_COLUMNS[kind].flatMap(({ name, decimal }) =>
      decimal === undefined ? [] : [[name, decimal.fractionDigits] as const],
    ),
  ),
]);

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
