/** HTML that is escaped by construction: a value never becomes markup unless this file made it. */

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/** Markup, which a template takes as it is. */
export class Html {
  readonly #markup: string;

  /** Only for `html` below: whoever calls it with anything else has escaped nothing. */
  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** What may stand in a template: nothing is shown of undefined, null and false. */
export type HtmlValue = string | number | bigint | Html | readonly HtmlValue[] | undefined | null | false;

function show(value: HtmlValue): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.toString();
  return Array.isArray(value) ? value.map(show).join('') : escaped(String(value));
}

/** An attribute without quotes would end at the first space of its value, whatever is escaped. */
const UNQUOTED = /=\s*$/;

/**
 * Markup with values in it: each is escaped, for text and for attributes in quotes alike. A list is joined.
 * @throws Error for a value that stands as an attribute without quotes
 */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = literals.map((literal, i) => {
    if (i === values.length) return literal;
    if (UNQUOTED.test(literal)) throw new Error(`Write quotes around the value after "${literal.trim()}".`);
    return literal + show(values[i]);
  });
  return new Html(parts.join(''));
}

/** A complete document, as it is sent. */
export const toDocument = (page: Html): string => `<!doctype html>\n${page}\n`;
