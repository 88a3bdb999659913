/**
 * JSON text composed field by field, for the answers that are sent most: no object is built only to be written out again.
 * A composer has a function for each field of the schema's type, in the order in which they are sent; one that is missing
 * does not compile. Its text is what JSON.stringify would give.
 */
import type { TimeZone } from '../domain/date-time.ts';

/** Gives the JSON text of a value. */
export type Compose<Value> = (value: Value, zone: TimeZone) => string;

/** What JSON.stringify escapes. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

export const quote = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

export const quoteOrNull = (text: string | null): string => (text === null ? 'null' : quote(text));

/** @param fields in the order of the answer; `Shape` is the type of its schema */
export function composeObject<Shape, Value>(
  fields: {
    readonly [field in keyof Shape]-?: Compose<Value>;
  },
): Compose<Value> {
  const list = Object.entries(fields) as [string, Compose<Value>][];
  const names = list.map(([name], i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const composers = list.map(([, compose]) => compose);
  return (value, zone) => {
    let text = '';
    for (let i = 0; i < names.length; i++)
      text += (names[i] as string) + (composers[i] as Compose<Value>)(value, zone);
    return `${text}}`;
  };
}

export function composeArray<Value>(
  values: readonly Value[],
  compose: Compose<Value>,
  zone: TimeZone,
): string {
  let text = '';
  for (let i = 0; i < values.length; i++) text += (i === 0 ? '' : ',') + compose(values[i] as Value, zone);
  return `[${text}]`;
}
