/** Values of rows that the registry holds: `HeldRow` gives them as they are stored, by the names of files. */
import { FRACTION_DIGITS } from '../../../import/columns/stored-values.ts';
import type { HeldRow } from '../../../store/ports/journal/held-data.ts';
import { nameOf } from '../../page/names.ts';
import type { Visit } from '../../visit/screen.ts';

/** Fields whose values are words that the desk translates. */
const WORDS = ['gender', 'role', 'status', 'kind', 'method'];
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Any value as the language of the visit writes it. @returns undefined for one that is missing */
export function writeStored(
  { write, translate }: Visit,
  field: string,
  value: HeldRow[string] | undefined,
): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') {
    if (WORDS.includes(field)) return translate(nameOf(value));
    return DATE.test(value) ? write.date(value) : value;
  }
  if (field === 'id') return String(value);
  if (field === 'interest_rate') return `${write.number(Number(value) / 100)} %`;
  const digits = FRACTION_DIGITS.get(field);
  if (digits === undefined) return write.moment(Number(value));
  return digits === 3 ? write.weight(value) : write.money(value);
}

/** Empty where there is none. */
export const textOf = (row: HeldRow, field: string): string => String(row[field] ?? '');

/** Zero where there is none. */
export const numberOf = (row: HeldRow, field: string): number => Number(row[field] ?? 0);

/** What is shown of a value that may be missing; nothing otherwise. */
export const ifGiven = <T>(row: HeldRow, field: string, shown: (value: T) => string): string | undefined =>
  row[field] === null || row[field] === undefined ? undefined : shown(row[field] as T);
