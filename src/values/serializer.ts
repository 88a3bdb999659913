/**
 * Writes the most frequent responses as JSON text, without building an object first. A serializer has a
 * property for each field of the schema's type, in the order of the response; a missing one is a compile
 * error. The text equals the output of JSON.stringify.
 */
import { formatDateTime, type TimeZone } from './date-time.ts';

export type Serialize<Value> = (value: Value, zone: TimeZone) => string;

/** `serializeObject` writes the quotes. */
export interface StringField<Value> {
  readonly read: (value: Value, zone: TimeZone) => string | null;
  /** True if the text may contain characters that JSON escapes. */
  readonly isFree: boolean;
}

export const text = <Value>(read: StringField<Value>['read']): StringField<Value> => ({ read, isFree: true });

/** Text that JSON never escapes, such as digits, dates and choices. */
export const plain = <Value>(read: StringField<Value>['read']): StringField<Value> => ({
  read,
  isFree: false,
});

const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

export const quote = (string: string): string =>
  ESCAPED.test(string) ? JSON.stringify(string) : `"${string}"`;

export const quoteOrNull = (string: string | null): string => (string === null ? 'null' : quote(string));

export type FieldSerializers<Shape, Value> = {
  readonly [field in keyof Shape]-?: StringField<Value> | Serialize<Value>;
};

interface FieldWriter<Value> {
  readonly read: (value: Value, zone: TimeZone) => string | null;
  readonly isString: boolean;
  readonly isFree: boolean;
  /** Text before the value, by whether the previous value and this value are in quotes. */
  readonly plainToPlain: string;
  readonly plainToQuote: string;
  readonly quoteToPlain: string;
  readonly quoteToQuote: string;
}

function toWriter<Value>(
  name: string,
  field: StringField<Value> | Serialize<Value>,
  isFirst: boolean,
): FieldWriter<Value> {
  const start = `${isFirst ? '{' : ','}${JSON.stringify(name)}:`;
  const isString = typeof field !== 'function';
  return {
    read: isString ? field.read : field,
    isString,
    isFree: isString && field.isFree,
    plainToPlain: start,
    plainToQuote: `${start}"`,
    quoteToPlain: `"${start}`,
    quoteToQuote: `"${start}"`,
  };
}

export function serializeObject<Shape, Value>(fields: FieldSerializers<Shape, Value>): Serialize<Value> {
  const entries = Object.entries(fields) as [string, StringField<Value> | Serialize<Value>][];
  const writers = entries.map(([name, field], i) => toWriter(name, field, i === 0));
  return (value, zone) => {
    let json = '';
    // True while the closing quote of the previous value is still to be written.
    let isOpen = false;
    for (let i = 0; i < writers.length; i++) {
      const writer = writers[i] as FieldWriter<Value>;
      const read = writer.read(value, zone);
      if (writer.isString && read !== null && !(writer.isFree && ESCAPED.test(read))) {
        json += (isOpen ? writer.quoteToQuote : writer.plainToQuote) + read;
        isOpen = true;
      } else {
        const start = isOpen ? writer.quoteToPlain : writer.plainToPlain;
        json += start + (writer.isString ? JSON.stringify(read) : read);
        isOpen = false;
      }
    }
    return json + (isOpen ? '"}' : '}');
  };
}

export function serializeArray<Value>(
  values: readonly Value[],
  serialize: Serialize<Value>,
  zone: TimeZone,
): string {
  let json = '';
  for (let i = 0; i < values.length; i++) json += (i === 0 ? '' : ',') + serialize(values[i] as Value, zone);
  return `[${json}]`;
}

export const instant = <Value>(read: (value: Value) => number | null): StringField<Value> =>
  plain((value, zone) => {
    const epochSeconds = read(value);
    return epochSeconds === null ? null : formatDateTime(epochSeconds, zone);
  });
