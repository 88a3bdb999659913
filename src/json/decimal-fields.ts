/** Money, weights and rates as decimal text, exact to the last digit (docs/api.md#formats). */
import {
  type DecimalKind,
  type ExactInteger,
  formatDecimal,
  parseDecimal,
} from '../domain/values/decimal.ts';
import { textField, withSpaces } from './fields.ts';
import { type Schema, string } from './schema.ts';
import { plain, type StringField } from './serializer.ts';

/** What responses show: exactly that many digits after the point. */
export const decimalSchema = (fractionDigits: number, description: string): Schema<string> =>
  string({
    pattern: `^[0-9]+\\.[0-9]{${fractionDigits}}$`,
    description,
    examples: [fractionDigits === 3 ? '47.000' : '41000.00'],
  });

/** In bodies, with fewer digits after the point too; the value is in minor units. */
export function decimalField(kind: DecimalKind, description: string) {
  const sent = new RegExp(`^-?[0-9]+(?:\\.[0-9]{1,${kind.fractionDigits}})?$`);
  return textField(
    decimalSchema(kind.fractionDigits, description),
    (value) => parseDecimal(value.trim(), kind),
    string({ pattern: withSpaces(sent), description }),
  );
}

/** The text of an amount in minor units, or null. */
export const decimal = <Value>(
  read: (value: Value) => ExactInteger | null,
  fractionDigits: number,
): StringField<Value> =>
  plain((value) => {
    const units = read(value);
    return units === null ? null : formatDecimal(units, fractionDigits);
  });
