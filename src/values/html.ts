/** HTML that is escaped by construction: only markup created in this file is inserted unescaped. */

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

export class Html {
  readonly #markup: string;

  /** To be called only in this file, because the markup is not escaped. */
  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** Undefined, null and false become empty text. */
export type HtmlValue = string | number | bigint | Html | readonly HtmlValue[] | undefined | null | false;

/** Position of a value in a template. A `tag` accepts only `Html`, so that no text adds an attribute. */
type Place = 'text' | 'tag' | 'attribute' | 'address';

const knownPlaces = new WeakMap<TemplateStringsArray, readonly Place[]>();

function placesOf(literals: TemplateStringsArray): readonly Place[] {
  let places = knownPlaces.get(literals);
  if (places === undefined) {
    places = literals.slice(1).map((_, i) => placeAfter(literals.slice(0, i + 1).join('')));
    knownPlaces.set(literals, places);
  }
  return places;
}

const IN_CODE = /<(?:script|style)\b[^>]*>(?:(?!<\/)[\s\S])*$/i;
const UNQUOTED = /=\s*'?$/;
const IN_ATTRIBUTE = /(?:^|<)[^<>"]*(?:"[^"]*"[^<>"]*)*\s([\w-]+)="([^"]*)$/;
const IN_TAG = /<[^<>"]*(?:"[^"]*"[^<>"]*)*$/;
const ADDRESSES = ['href', 'src', 'action', 'formaction'];

/** @param markup beginning of the template, up to the value */
function placeAfter(markup: string): Place {
  if (IN_CODE.test(markup)) throw new Error('No value belongs in a script or a style.');
  const [, name, before] = IN_ATTRIBUTE.exec(markup) ?? [];
  // An unquoted attribute would end at the first space of its value, even if the value is escaped.
  if (name === undefined && UNQUOTED.test(markup))
    throw new Error(`Write quotes around the value after "${markup.trim()}".`);
  if (name === undefined) return IN_TAG.test(markup) ? 'tag' : 'text';
  if (/^(?:on\w+|style)$/i.test(name)) throw new Error(`No value belongs in the attribute ${name}.`);
  return before === '' && ADDRESSES.includes(name.toLowerCase()) ? 'address' : 'attribute';
}

/** Addresses that are safe in a link; `javascript:` is not. */
const ADDRESS = /^(?:$|\/(?!\/)|[#?]|https?:\/\/)/;

function show(value: HtmlValue, place: Place): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html || Array.isArray(value)) {
    if (place === 'attribute' || place === 'address')
      throw new Error('An attribute takes a text or a number.');
    return value instanceof Html ? value.toString() : value.map((item) => show(item, place)).join('');
  }
  if (place === 'tag') throw new Error(`Only markup adds an attribute, not "${value}".`);
  const text = String(value);
  if (place === 'address' && !ADDRESS.test(text))
    throw new Error('An address begins with a slash, #, ? or http.');
  return escaped(text);
}

/** @throws Error for a value in a position where escaping is not enough, such as an unquoted attribute */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const places = placesOf(literals);
  const parts = values.map((value, i) => show(value, places[i] as Place) + literals[i + 1]);
  return new Html(literals[0] + parts.join(''));
}

export const withCode = (text: string, toCode = (part: string): string => part): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${toCode(part)}</code>`))}`;

/** @param code code of this program, never from input, because styles and scripts cannot be escaped */
export function codeElement(name: 'style' | 'script', code: string): Html {
  if (code.includes('</')) throw new Error(`A ${name} must not end its own element.`);
  return new Html(`<${name}>${code}</${name}>`);
}

export const toDocument = (page: Html): string => `<!doctype html>\n${page}\n`;
