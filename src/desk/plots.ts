/** Bar charts as SVG, without scripts. Labels stay legible at any width. */
import { type Html, html } from '../values/html.ts';
import { type Column, table } from './parts.ts';
import type { Visit } from './screen.ts';

interface Bar {
  readonly label: string;
  /** Text for the mouse pointer and for screen readers. */
  readonly told: string;
  readonly value: number;
  /** Parts of the value, from the bottom; by default, one part. */
  readonly parts?: readonly number[];
}

/** Width of a bar with its margin, and height of a plot, in units that the browser stretches. */
const [SLOT, HEIGHT] = [10, 100];
const MOST_LABELS = 8;
/** The style sheet has colours for the classes `.s0` to `.s4`. */
export const MOST_PARTS = 5;

/** @param most the largest value, formatted for the language */
export function bars(label: string, values: readonly Bar[], most: string): Html {
  const largest = Math.max(...values.map(({ value }) => value), 1);
  const every = Math.ceil(values.length / MOST_LABELS);
  const labels = values.filter((_, i) => i % every === 0);
  // Each label is as wide as `every` bars, and begins under its bar.
  const width = Math.max(labels.length * every, 1) * SLOT;
  return html`<div class="plot" role="img" aria-label="${label}"><small>${most}</small>
<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">${values.map((bar, i) =>
    column(bar, i * SLOT, largest),
  )}</svg>
<div class="axis">${labels.map((each) => html`<span>${each.label}</span>`)}</div></div>`;
}

function column({ told, value, parts = [value] }: Bar, x: number, largest: number): Html {
  let top = HEIGHT;
  return html`<g><title>${told}</title>
<rect class="hit" x="${x}" y="0" width="${SLOT}" height="${HEIGHT}"/>${parts.map((part, i) => {
    const height = (HEIGHT * part) / largest;
    top -= height;
    return (
      part > 0 &&
      html`<rect class="s${i}" x="${x + 1}" y="${top.toFixed(2)}" width="${SLOT - 2}"
 height="${height.toFixed(2)}"/>`
    );
  })}</g>`;
}

/** @param parts fractions of the cell's width */
function line(parts: readonly number[]): Html {
  let x = 0;
  return html`<svg class="line" viewBox="0 0 ${HEIGHT} 1" preserveAspectRatio="none"
 aria-hidden="true">${parts.map((part, i) => {
   const [from, width] = [x, HEIGHT * Math.max(part, 0)];
   x += width;
   return html`<rect class="s${i}" x="${from.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="1"/>`;
 })}</svg>`;
}

const legend = (names: readonly string[]): Html =>
  html`<ul class="legend">${names.map(
    (name, i) =>
      html`<li><svg viewBox="0 0 1 1" aria-hidden="true"><rect class="s${i}" width="1" height="1"/></svg
>${name}</li>`,
  )}</ul>`;

interface BarFigure {
  readonly title: string;
  readonly values: readonly Bar[];
  readonly most: string;
  readonly parts?: readonly string[];
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/** The table of numbers is collapsed on screen, and open in print. */
export const barFigure = (
  { say }: Visit,
  { title, values, most, parts, columns, rows }: BarFigure,
): Html => html`<figure><figcaption>${title}</figcaption>
${bars(title, values, most)}${parts !== undefined && legend(parts)}
<details class="figures"><summary>${say('Figures')}</summary>${table(title, columns, rows)}</details>
</figure>`;

interface LineRow {
  readonly name: string;
  /** Lengths of the parts of the bar, in the same unit for all rows. */
  readonly parts: readonly number[];
  readonly shown: string;
}

interface LineFigure {
  readonly title: string;
  readonly headings: readonly [names: string, values: string];
  readonly parts?: readonly string[];
  readonly rows: readonly LineRow[];
}

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
