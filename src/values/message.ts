/**
 * Messages for people: an English sentence with named placeholders. Template and values are kept apart until
 * the message is shown, so that it can be shown in another language (language.ts).
 *
 * `{file}` is replaced by the value of that name; `{rows|# row|# rows}` by the first form if the number takes
 * the singular, else by the second, with the number in place of `#`.
 */

/**
 * An amount, a day `YYYY-MM-DD` or an instant in the form of commands; pages format it for their language.
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

/**
 * A nested message is shown in the language of the outer message, and a list with commas between its texts.
 */
type Value = string | number | Written | Message | readonly (string | Message)[];
export type Values = { readonly [place: string]: Value };

/** A sentence for people. A sentence without values may be a string. */
export type Text = string | Message;

export class Message {
  readonly template: string;
  readonly values: Values;

  constructor(template: string, values: Values) {
    this.template = template;
    this.values = values;
  }

  /** English text. */
  toString(): string {
    return compose(this, ENGLISH);
  }

  /** Programs read English. */
  toJSON(): string {
    return this.toString();
  }
}

type NameOf<Place extends string> = Place extends `${infer Name}|${string}` ? Name : Place;
/** Names of a template's placeholders. A template concatenated with `+` is only a string to the compiler. */
type PlaceOf<Template extends string> = string extends Template
  ? string
  : Template extends `${string}{${infer Place}}${infer Rest}`
    ? NameOf<Place> | PlaceOf<Rest>
    : never;

/** Values of a template's placeholders, as rest arguments. */
export type InPlaces<Template extends string> = [PlaceOf<Template>] extends [never]
  ? []
  : [values: { readonly [place in PlaceOf<Template>]: Value }];

/** Creates a message from its English template and the values of its placeholders. */
export const say = <const Template extends string>(
  template: Template,
  ...[values]: InPlaces<Template>
): Message => new Message(template, values ?? {});

/** Turns a text into a message, so that it can be nested in another message and translated there. */
export const asMessage = (text: Text): Message => (typeof text === 'string' ? new Message(text, {}) : text);

/** Joins texts with a separator other than a comma. */
export const joinTexts = (texts: readonly Value[], between: string): Message =>
  new Message(texts.map((_, i) => `{${i}}`).join(between), Object.fromEntries(texts.entries()));

/** Returns the message with every text among its values changed, including those in nested messages. */
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

/** The wording of a language. */
export interface Wording {
  /** @returns undefined for a template without a translation */
  translate(template: string): string | undefined;
  isSingular(count: number): boolean;
  /** Formats a value or count; by default as commands write them. */
  write?(value: Written | number): string;
}

const ENGLISH: Wording = { translate: (template) => template, isSingular: (count) => count === 1 };

export const PLACE = /\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g;

/** Returns the text in a language, or in English if a translation is missing. */
export function compose(text: Text, wording: Wording): string {
  const template = typeof text === 'string' ? text : text.template;
  const translated = wording.translate(template);
  if (typeof text === 'string') return translated ?? text;
  const { isSingular } = translated === undefined ? ENGLISH : wording;
  return (translated ?? template).replace(PLACE, (place: string, name: string, one?: string, many = '') => {
    const value = text.values[name];
    // User input may contain braces.
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

/** Packs a text into a single string, for a table: the template, a line feed, and its values as JSON. */
export const pack = (text: Text): string =>
  typeof text === 'string'
    ? text.replaceAll('\n', ' ')
    : `${text.template}\n${JSON.stringify(text.values, packInner)}`;

/** Packs a nested message, still to be translated, or a value still to be formatted. */
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
