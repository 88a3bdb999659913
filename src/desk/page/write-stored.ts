/** Values as they are stored → as the language of a visit writes them. */
import { FRACTION_DIGITS } from '../../import/columns/stored-values.ts';
import type { Visit } from '../visit/screen.ts';
import { nameOf } from './names.ts';

/** Fields whose values are words that the desk translates. */
const WORDS = ['gender', 'role', 'status', 'kind', 'method'];
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Any value as the language of the visit writes it. @returns undefined for one that is missing */
export function writeStored(
  { write, translate }: Visit,
  field: string,
  value: string | number | bigint | null | undefined,
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
