/**
 * Messages for people. A message has an English sentence with named placeholders, and the values separately,
 * so that the message can be shown in another language (language.ts).
 *
 * The value `file` replaces the placeholder `{file}`. In `{rows|# row|# rows}`, the number `rows` chooses the
 * singular or the plural form, and replaces `#`.
 */

/** Amount, day (`YYYY-MM-DD`) or instant in the format of commands. Pages show another format. */
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

/** Value of a placeholder. Nested messages are translated, and lists are joined with commas. */
type Value = string | number | Written | Message | readonly (string | Message)[];
export type Values = { readonly [place: string]: Value };

/** A sentence without placeholders may be a plain string. */
export type Text = string | Message;

export class Message {
  readonly template: string;
  readonly values: Values;

  constructor(template: string, values: Values) {
    this.template = template;
    this.values = values;
  }

  toString(): string {
    return compose(this, ENGLISH);
  }

  /** Returns English, because JSON documents are for programs. */
  toJSON(): string {
    return this.toString();
  }
}

type NameOf<Place extends string> = Place extends `${infer Name}|${string}` ? Name : Place;
/** The type of a template that is concatenated with `+` is `string`, so its placeholders are unknown. */
type PlaceOf<Template extends string> = string extends Template
  ? string
  : Template extends `${string}{${infer Place}}${infer Rest}`
    ? NameOf<Place> | PlaceOf<Rest>
    : never;

/** Rest parameters of `say`. */
export type InPlaces<Template extends string> = [PlaceOf<Template>] extends [never]
  ? []
  : [values: { readonly [place in PlaceOf<Template>]: Value }];

export const say = <const Template extends string>(
  template: Template,
  ...[values]: InPlaces<Template>
): Message => new Message(template, values ?? {});

/** Makes a text a translatable value of another message. */
export const asMessage = (text: Text): Message => (typeof text === 'string' ? new Message(text, {}) : text);

export const joinTexts = (texts: readonly Value[], between: string): Message =>
  new Message(texts.map((_, i) => `{${i}}`).join(between), Object.fromEntries(texts.entries()));

/** Changes all texts among the values of a message and of nested messages. */
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

export interface Wording {
  /** @returns undefined if the template has no translation */
  translate(template: string): string | undefined;
  isSingular(count: number): boolean;
  /** By default, values have the format of commands. */
  write?(value: Written | number): string;
}

const ENGLISH: Wording = { translate: (template) => template, isSingular: (count) => count === 1 };

export const PLACE = /\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g;

/** Falls back to English. */
export function compose(text: Text, wording: Wording): string {
  const template = typeof text === 'string' ? text : text.template;
  const translated = wording.translate(template);
  if (typeof text === 'string') return translated ?? text;
  const { isSingular } = translated === undefined ? ENGLISH : wording;
  return (translated ?? template).replace(PLACE, (place: string, name: string, one?: string, many = '') => {
    const value = text.values[name];
    // These braces are user input, not a placeholder.
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

/** Returns a single string for storage: the template, a line feed, and the values as JSON. */
export const pack = (text: Text): string =>
  typeof text === 'string'
    ? text.replaceAll('\n', ' ')
    : `${text.template}\n${JSON.stringify(text.values, packInner)}`;

/** Marks nested messages and formatted values, so that `unpack` can restore them. */
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
