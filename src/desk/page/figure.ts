/** Plots with their titles and figures. */
import { type Html, html } from '../../html/html.ts';
import type { Visit } from '../visit/screen.ts';
import { type Column, table } from './parts.ts';
import { type Bar, bars, legend, line } from './plots.ts';

export interface BarFigure {
  readonly title: string;
  readonly values: readonly Bar[];
  /** The largest value, as the language writes it. */
  readonly most: string;
  /** What the parts of the bars are called, if they have any. */
  readonly parts?: readonly string[];
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/** A plot over time; its figures are folded away, and on paper they are not. */
export const barFigure = (
  { say }: Visit,
  { title, values, most, parts, columns, rows }: BarFigure,
): Html => html`<figure><figcaption>${title}</figcaption>
${bars(title, values, most)}${parts !== undefined && legend(parts)}
<details class="figures"><summary>${say('Figures')}</summary>${table(title, columns, rows)}</details>
</figure>`;

export interface LineRow {
  readonly name: string;
  /** As numbers of one unit, for the bar. */
  readonly parts: readonly number[];
  /** As the language writes it. */
  readonly shown: string;
}

export interface LineFigure {
  readonly title: string;
  /** Above the names, and above the values. */
  readonly headings: readonly [names: string, values: string];
  readonly parts?: readonly string[];
  readonly rows: readonly LineRow[];
}

/** A table in which each row has a bar: the figures need no second one. */
export function lineFigure({ title, headings: [names, values], parts, rows }: LineFigure): Html {
  const sumOf = (row: LineRow) => row.parts.reduce((sum, part) => sum + part, 0);
  const largest = Math.max(...rows.map(sumOf), 1);
  return html`<figure><figcaption>${title}</figcaption>
${parts !== undefined && legend(parts)}
<table class="lines">
<thead class="unseen"><tr><th scope="col">${names}</th><th scope="col">${values}</th></tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${row.name}${line(row.parts.map((part) => part / largest))}</th>
<td class="n">${row.shown}</td></tr>\n`,
  )}</tbody></table></figure>`;
}
