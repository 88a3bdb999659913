/** A value as it is stored → as the API shows it (docs/api.md#formats), for lists of changes. */
import { formatDateTime, type TimeZone } from '../domain/date-time.ts';
import { type DecimalKind, formatDecimal, MONEY, RATE, WEIGHT } from '../domain/decimal.ts';
import type { StagedValue } from '../store/ports/import-session.ts';

/** The columns of numbers that are no instants. */
const DECIMALS: ReadonlyMap<string, DecimalKind> = new Map([
  ['amount', MONEY],
  ['paid_amount', MONEY],
  ['interest_rate', RATE],
  ['kg', WEIGHT],
]);

/**
 * @param column of an import file
 * @param value in minor units, grams or epoch seconds where it is a number
 */
export function formatStored(column: string, value: StagedValue, zone: TimeZone): string | null {
  if (typeof value !== 'number') return value;
  const decimal = DECIMALS.get(column);
  return decimal === undefined ? formatDateTime(value, zone) : formatDecimal(value, decimal.fractionDigits);
}
