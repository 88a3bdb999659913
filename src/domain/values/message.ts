/**
 * What is said to people: an English sentence with named places for its values. It keeps both apart until it
 * is shown, so that it can be shown in another language (src/language/).
 *
 * `{file}` is replaced by the value of that name; `{rows|# row|# rows}` by the first form where the number
 * takes the singular, else by the second, with the number in place of `#`.
 */

/**
 * An amount, a day `YYYY-MM-DD` or an instant, as commands and programs write it; a page writes it as its
 * language does.
 */
export class Written {
  readonly as: 'amount' | 'day' | 'moment';
  readonly text: string;

  constructor(as: Written['as'], text: string) {
    [this.as, this.text] = [as, text];
  }

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    return this.text;
  }
}

/** A message is shown in the language of the one it is in; a list with commas between its texts. */
type Value = string | number | Written | Message | readonly (string | Message)[];
export type Values = { readonly [place: string]: Value };

/** A sentence for people. One without values may be a string. */
export type Text = string | Message;

export class Message {
  readonly template: string;
  readonly values: Values;

  constructor(template: string, values: Values) {
    this.template = template;
    this.values = values;
  }

  /** In English. */
  toString(): string {
    return compose(this, ENGLISH);
  }

  /** What programs read is English. */
  toJSON(): string {
    return this.toString();
  }
}

type NameOf<Place extends string> = Place extends `${infer Name}|${string}` ? Name : Place;
/** The names of a template's places. One that is joined by `+` is only a string to the compiler. */
type PlaceOf<Template extends string> = string extends Template
  ? string
  : Template extends `${string}{${infer Place}}${infer Rest}`
    ? NameOf<Place> | PlaceOf<Rest>
    : never;

/** What stands in the places of a template, as the rest of the arguments. */
export type InPlaces<Template extends string> = [PlaceOf<Template>] extends [never]
  ? []
  : [values: { readonly [place in PlaceOf<Template>]: Value }];

/** A message, from its English template and what stands in its places. */
export const say = <const Template extends string>(
  template: Template,
  ...[values]: InPlaces<Template>
): Message => new Message(template, values ?? {});

/** A sentence as what can stand in another one and is translated there. */
export const asMessage = (text: Text): Message => (typeof text === 'string' ? new Message(text, {}) : text);

/** Texts one after the other, with other signs than commas between them. */
export const joinTexts = (texts: readonly Value[], between: string): Message =>
  new Message(texts.map((_, i) => `{${i}}`).join(between), Object.fromEntries(texts.entries()));

/** The same message with every text in its places changed, also in messages that stand there. */
export function mapTexts({ template, values }: Message, change: (text: string) => Text): Message {
  const one = (each: Text): Text => (typeof each === 'string' ? change(each) : mapTexts(each, change));
  const changed = Object.entries(values).map(([place, value]): [string, Value] => [
    place,
    typeof value === 'number' || value instanceof Written
      ? value
      : typeof value === 'string' || value instanceof Message
        ? one(value)
        : value.map(one),
  ]);
  return new Message(template, Object.fromEntries(changed));
}

/** How a language says things. */
export interface Wording {
  /** @returns undefined for a template that has no translation */
  translate(template: string): string | undefined;
  isSingular(count: number): boolean;
  /** Without it, a value or count is as commands write it. */
  write?(value: Written | number): string;
}

const ENGLISH: Wording = { translate: (template) => template, isSingular: (count) => count === 1 };

export const PLACE = /\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g;

/** The text in a language; in English where a translation is missing. */
export function compose(text: Text, wording: Wording): string {
  const template = typeof text === 'string' ? text : text.template;
  const translated = wording.translate(template);
  if (typeof text === 'string') return translated ?? text;
  const { isSingular } = translated === undefined ? ENGLISH : wording;
  return (translated ?? template).replace(PLACE, (place: string, name: string, one?: string, many = '') => {
    const value = text.values[name];
    // What somebody has written may have braces.
    if (value === undefined) return place;
    if (one === undefined) return show(value, wording);
    return (isSingular(Number(value)) ? one : many).replaceAll(
      '#',
      wording.write?.(Number(value)) ?? String(value),
    );
  });
}

function show(value: Value, wording: Wording): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (value instanceof Written) return wording.write?.(value) ?? value.text;
  if (value instanceof Message) return compose(value, wording);
  return value.map((each) => show(each, wording)).join(', ');
}

/** As one text, for a table: the template, and its values as JSON behind a line feed. */
export const pack = (text: Text): string =>
  typeof text === 'string'
    ? text.replaceAll('\n', ' ')
    : `${text.template}\n${JSON.stringify(text.values, packInner)}`;

/** A message in a message, which is still to be translated, and a value that is still to be written. */
function packInner(this: { readonly [key: string]: unknown }, key: string, value: unknown): unknown {
  const inner = this[key];
  if (inner instanceof Written) return { asWritten: inner.as, text: inner.text };
  return inner instanceof Message ? { packed: pack(inner) } : value;
}

export function unpack(packed: string): Text {
  const end = packed.indexOf('\n');
  return end < 0
    ? packed
    : new Message(packed.slice(0, end), JSON.parse(packed.slice(end + 1), unpackInner) as Values);
}

interface PackedInner {
  readonly packed?: string;
  readonly asWritten?: Written['as'];
  readonly text?: string;
}

function unpackInner(_key: string, value: PackedInner): unknown {
  if (typeof value?.packed === 'string') return asMessage(unpack(value.packed));
  const { asWritten, text = '' } = value ?? {};
  return asWritten === undefined ? value : new Written(asWritten, text);
}
