/** Parts that screens are made of. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import type { Visit } from '../visit/screen.ts';

/** Labels with their values; those without a value are left out. */
export const fields = (entries: readonly (readonly [label: string, value: HtmlValue])[]): Html =>
  html`<dl>${entries
    .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
    .map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;

export interface Column {
  readonly heading: string;
  /** Numbers stand below each other. */
  readonly isNumber?: true;
  /** Where the rows are in order of this column. */
  readonly link?: string;
  /** They are. */
  readonly order?: 'ascending' | 'descending';
}

/** @param label says what the table is, for those who do not see it */
export const table = (
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly HtmlValue[])[],
): Html => html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table>
<thead><tr>${columns.map(
  ({ heading, isNumber, link, order }) =>
    html`<th scope="col"${isNumber && html` class="n"`}${order && html` aria-sort="${order}"`}>${
      link === undefined ? heading : html`<a href="${link}">${heading}</a>`
    }</th>`,
)}</tr></thead>
<tbody>${rows.map(
  (row) =>
    html`<tr>${row.map(
      (cell, i) =>
        html`<td data-h="${columns[i]?.heading}"${columns[i]?.isNumber && html` class="n"`}>${cell}</td>`,
    )}</tr>\n`,
)}</tbody></table></div>`;

export interface FormOptions {
  /** The path of a screen. */
  readonly path: string;
  /** One of its actions. */
  readonly action: string;
  /** Values that are sent beside those that are asked for. */
  readonly hidden?: { readonly [name: string]: string };
  readonly body: HtmlValue;
  readonly button: string;
  /** For what cannot be undone, and for small forms in a line. */
  readonly look?: 'danger' | 'plain';
  readonly takesFiles?: true;
  /** It is answered by a file to keep, and can be sent again. */
  readonly saves?: true;
}

/** A form with the token of the session: the only way to write one. */
export const form = (
  visit: Visit,
  { path, action, hidden = {}, body, button, look, takesFiles, saves }: FormOptions,
): Html =>
  html`<form method="post" action="${path}"${takesFiles && html` enctype="multipart/form-data"`}${
    saves && html` data-saves`
  }>
${Object.entries({ token: visit.session.token, action, ...hidden }).map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
)}
${body}<button${look && html` class="${look}"`}>${button}</button>
</form>`;

export interface InputOptions {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'date' | 'search';
  readonly value?: string;
  readonly hint?: string;
  /** What is wrong with the value. */
  readonly fault?: string | undefined;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly max?: string;
  readonly isNumeric?: true;
  readonly isOptional?: true;
  /** Whether it is typed into first. */
  readonly isFirst?: true | undefined;
  /** What is proposed while somebody types. */
  readonly proposed?: readonly (readonly [value: string, shown: string])[] | undefined;
}

/** An input inside its label. */
export const input = (options: InputOptions): Html => html`<label>${options.label}
<input name="${options.name}" type="${options.type ?? 'text'}" value="${options.value}" autocomplete="off"${
  options.isOptional !== true && html` required`
}${options.isFirst && html` autofocus`}${options.fault && html` aria-invalid="true"`}${
  options.maxLength && html` maxlength="${options.maxLength}"`
}${
  options.pattern && html` pattern="${options.pattern}"`
}${options.max && html` max="${options.max}"`}${options.isNumeric && html` inputmode="numeric"`}${
  options.proposed && html` list="proposed-${options.name}"`
}>${
  options.proposed &&
  html`<datalist id="proposed-${options.name}">${options.proposed.map(
    ([value, shown]) => html`<option value="${value}">${shown}</option>`,
  )}</datalist>`
}
${options.hint && html`<small>${options.hint}</small>`}${faultBeside(options.fault)}</label>`;

const faultBeside = (fault: string | undefined): Html | undefined =>
  fault === undefined ? undefined : html`<small class="fault" role="alert">${fault}</small>`;

/** An input of a national ID, which may have spaces, as on the card. */
export const numberInput = ({ say }: Visit, options: InputOptions): Html =>
  input({ ...options, isNumeric: true, pattern: '[0-9 ]{16,32}', maxLength: 32, hint: say('16 digits') });

export interface SelectOptions {
  /** One of the values. */
  readonly chosen?: string | undefined;
  readonly hint?: HtmlValue;
  readonly fault?: string | undefined;
  /** Whether the empty choice is none. */
  readonly isRequired?: true;
}

/** A choice inside its label. */
export const select = (
  name: string,
  label: string,
  choices: readonly (readonly [value: string, shown: string])[],
  { chosen, hint, fault, isRequired }: SelectOptions = {},
): Html => html`<label>${label}
<select name="${name}"${isRequired && html` required`}>${choices.map(
  ([value, shown]) => html`<option value="${value}"${value === chosen && html` selected`}>${shown}</option>`,
)}</select>
${hint && html`<small>${hint}</small>`}${faultBeside(fault)}</label>`;
