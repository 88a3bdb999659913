/** HTML building blocks of screens. */

import { typedCommand } from '../runtime/typed-command.ts';
import { type Html, type HtmlValue, html, withCode } from '../values/html.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import type { Text } from '../values/message.ts';
import type { Page, Visit } from './screen.ts';

export const refuseGiven = (visit: Visit, heading: Text, back: string, fault: Text): Page => ({
  body: html`<h1>${visit.translate(heading)}</h1>
<p class="refused" role="alert">${visit.translate(fault)}</p>
<p><a href="${back}">${visit.say('Back')}</a></p>`,
  shows: 'nobody',
  status: 422,
});

/** Omits labels without a value. */
export const fields = (entries: readonly (readonly [label: string, value: HtmlValue])[]): Html =>
  html`<dl>${entries
    .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
    .map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;

export interface Column {
  readonly heading: string;
  readonly isNumber?: true;
  /** Sorts the rows by this column. */
  readonly link?: string;
  /** Set if the rows are sorted by this column. */
  readonly order?: 'ascending' | 'descending';
}

/** @param label description for screen readers */
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

interface FormOptions {
  readonly path: string;
  readonly action: string;
  readonly hidden?: { readonly [name: string]: string };
  readonly body?: HtmlValue;
  readonly button: string;
  /** `danger` for actions that cannot be undone, `plain` for small inline forms. */
  readonly look?: 'danger' | 'plain';
  readonly takesFiles?: true;
  /** True if the response is a file to save. The page then stays open. */
  readonly saves?: true;
}

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
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly fault?: string | undefined;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly max?: string;
  readonly isNumeric?: true;
  readonly isOptional?: true;
  /** True if the input has the focus when the page opens. */
  readonly isFirst?: true | undefined;
  readonly proposed?: readonly (readonly [value: string, shown: string])[] | undefined;
}

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
    ([value, label]) => html`<option value="${value}">${label}</option>`,
  )}</datalist>`
}
${options.hint && html`<small>${options.hint}</small>`}${faultBeside(options.fault)}</label>`;

const faultBeside = (fault: string | undefined): Html | undefined =>
  fault === undefined ? undefined : html`<small class="fault" role="alert">${fault}</small>`;

/** For a national ID. The user may type spaces, as on the card. */
export const numberInput = ({ say }: Visit, options: InputOptions): Html =>
  input({ ...options, isNumeric: true, pattern: '[0-9 ]{16,32}', maxLength: 32, hint: say('16 digits') });

interface SelectOptions {
  readonly chosen?: string | undefined;
  readonly hint?: HtmlValue;
  readonly fault?: string | undefined;
  readonly isRequired?: true;
}

export const select = (
  name: string,
  label: string,
  choices: readonly (readonly [value: string, shown: string])[],
  { chosen, hint, fault, isRequired }: SelectOptions = {},
): Html => html`<label>${label}
<select name="${name}"${isRequired && html` required`}>${choices.map(
  ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
)}</select>
${hint && html`<small>${hint}</small>`}${faultBeside(fault)}</label>`;

// Progress and errors of a command in a separate process

export function workUnderWay(
  { say }: Visit,
  heading: HtmlValue,
  sentence: string,
  { progress }: { readonly progress: number | undefined },
): Page {
  const value = progress !== undefined && html` value="${progress.toFixed(2)}"`;
  const body: Html = html`${heading}<div class="card" role="status"><p>${sentence}</p>
<progress${value} max="1" aria-label="${sentence}"></progress>
<p><small>${say('You can leave this page: the work continues. The page reloads by itself.')}</small></p>
</div>`;
  return { body, refreshSeconds: 1 };
}

export const failure = (visit: Visit, run: { readonly errors: string }): Html =>
  html`<p class="refused" role="alert">${
    hideIdentityCards(run.errors.trim()) || visit.say('It was stopped.')
  }</p>`;

/**
 * Replaces `registry …` in backticks with the command as the user has to type it.
 * @param db location for the option `--db` of commands; undefined for the location in the settings
 */
export const withCommands = (sentence: string, db?: string): Html =>
  withCode(sentence, (part) => part.replace(/^registry (.*)$/s, (_, command) => typedCommand(command, db)));
