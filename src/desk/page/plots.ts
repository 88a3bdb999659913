/** Plots of values over months or years, as SVG that needs no script; labels are legible at any width. */
import { type Html, html } from '../../html/html.ts';

export interface Bar {
  /** Under the bar. */
  readonly label: string;
  /** What the bar says when it is pointed at or read out. */
  readonly told: string;
  readonly value: number;
  /** What the value consists of, from the bottom; one part unless they are given. */
  readonly parts?: readonly number[];
}

/** A slot of one bar is so wide, and a plot so high; both are stretched to the place that there is. */
const [SLOT, HEIGHT] = [10, 100];
/** Labels stand under so many bars at most. */
const MOST_LABELS = 8;
/** Colours of parts: `.s0` and so on of the style sheet. */
export const MOST_PARTS = 5;

/**
 * Bars from zero, with the largest value written at its line. The same values stand in a table beside the
 * plot, or in the titles of the bars.
 * @param label what is plotted, with its unit
 * @param most the largest value, as the language writes it
 */
export function bars(label: string, values: readonly Bar[], most: string): Html {
  const largest = Math.max(...values.map(({ value }) => value), 1);
  const every = Math.ceil(values.length / MOST_LABELS);
  const labels = values.filter((_, i) => i % every === 0);
  // Slots for complete groups, so that each label begins under its bar.
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

/** One bar that lies in a cell of a table, beside its value. @param parts as shares of 1 */
export function line(parts: readonly number[]): Html {
  let x = 0;
  return html`<svg class="line" viewBox="0 0 ${HEIGHT} 1" preserveAspectRatio="none"
 aria-hidden="true">${parts.map((part, i) => {
   const [from, width] = [x, HEIGHT * Math.max(part, 0)];
   x += width;
   return html`<rect class="s${i}" x="${from.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="1"/>`;
 })}</svg>`;
}

/** What the colours of parts mean, in the order of the parts. */
export const legend = (names: readonly string[]): Html =>
  html`<ul class="legend">${names.map(
    (name, i) =>
      html`<li><svg viewBox="0 0 1 1" aria-hidden="true"><rect class="s${i}" width="1" height="1"/></svg
>${name}</li>`,
  )}</ul>`;
