/** Money, weights and rates: exact integers of minor units when stored, decimal strings when shown. */
import { FieldError } from './errors.ts';
import { say } from './message.ts';

export interface DecimalKind {
  /** Digits after the decimal point. The stored integer is the value times 10 to this power. */
  readonly fractionDigits: number;
  /** Maximum digits before the decimal point, few enough that all stored integers are below 2^53. */
  readonly integerDigits: number;
  readonly minimum: 'positive' | 'zero';
  /** Maximum in minor units, if lower than the digits allow. */
  readonly maximum?: number;
}

/** Rwandan francs in hundredths (docs/api.md#formats). */
export const MONEY: DecimalKind = { fractionDigits: 2, integerDigits: 12, minimum: 'positive' };
export const MONEY_OR_ZERO: DecimalKind = { ...MONEY, minimum: 'zero' };
export const MAX_MONEY_MINOR = 10 ** (MONEY.integerDigits + MONEY.fractionDigits) - 1;
/** Kilograms with three decimals, stored as grams. */
export const WEIGHT: DecimalKind = { fractionDigits: 3, integerDigits: 7, minimum: 'positive' };
/** Annual interest in per cent, stored in hundredths; at most 100 per cent. */
export const RATE: DecimalKind = { fractionDigits: 2, integerDigits: 3, minimum: 'zero', maximum: 100_00 };

const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;
const NOT_A_NUMBER = new FieldError('A valid number is required.');

/** Returns minor units. Refuses too many fraction digits, even zeros: the sender's intention is unclear. */
export function parseDecimal(text: string, kind: DecimalKind): number | FieldError {
  const match = DECIMAL.exec(text);
  if (match === null) return NOT_A_NUMBER;
  const [, sign, whole = '', fraction = ''] = match;
  if (fraction.length > kind.fractionDigits) {
    return new FieldError(
      say('Ensure that there are no more than {count} decimal places.', { count: kind.fractionDigits }),
    );
  }
  const significant = whole.replace(/^0+(?=[0-9])/, '');
  if (significant.length > kind.integerDigits) {
    return new FieldError(
      say('Ensure that there are no more than {count} digits before the decimal point.', {
        count: kind.integerDigits,
      }),
    );
  }
  const units = Number(significant + fraction.padEnd(kind.fractionDigits, '0'));
  if (kind.minimum === 'positive' && (sign === '-' || units === 0)) {
    return new FieldError('Ensure this value is greater than 0.');
  }
  if (sign === '-' && units !== 0) return new FieldError('Ensure this value is greater than or equal to 0.');
  if (kind.maximum !== undefined && units > kind.maximum) {
    return new FieldError(
      say('Ensure this value is less than or equal to {maximum}.', {
        maximum: formatDecimal(kind.maximum, kind.fractionDigits),
      }),
    );
  }
  return units;
}

export function formatDecimal(units: ExactInteger, fractionDigits: number): string {
  const negative = units < 0;
  const digits = String(negative ? -units : units).padStart(fractionDigits + 1, '0');
  const point = digits.length - fractionDigits;
  return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Integer without rounding: a number below 2^53, and a bigint from there on. */
export type ExactInteger = number | bigint;

/** Converts a bigint to a number, unless the number would be rounded. */
export function narrow(value: bigint): ExactInteger {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
