/** Plots of one value over months or years, as SVG that needs no script. */
import { type Html, html } from '../../html/html.ts';

export interface Bar {
  /** Under the bar. */
  readonly label: string;
  /** What the bar says when it is pointed at or read out. */
  readonly told: string;
  readonly value: number;
}

const [WIDTH, HEIGHT, FOOT] = [720, 150, 22];
/** Labels stand under so many bars at most. */
const MOST_LABELS = 12;

/**
 * Bars from zero, all of one colour, with the largest value written at its line. The same values stand in a
 * table beside the plot, or in the titles of the bars.
 * @param label what is plotted, with its unit
 * @param most the largest value, as the language writes it
 */
export function bars(label: string, values: readonly Bar[], most: string): Html {
  const largest = Math.max(...values.map(({ value }) => value), 1);
  const step = WIDTH / Math.max(values.length, 1);
  const every = Math.ceil(values.length / MOST_LABELS);
  const shown = values.map(({ label: under, told, value }, i) => {
    const height = Math.round(((HEIGHT - FOOT - 20) * value) / largest);
    const [x, y] = [Math.round(i * step), HEIGHT - FOOT - height];
    const middle = Math.round(x + step / 2);
    return html`<g><title>${told}</title>
<rect class="hit" x="${x}" y="0" width="${Math.round(step)}" height="${HEIGHT - FOOT}"/>
<rect class="bar" x="${Math.round(x + step * 0.15)}" y="${y}" width="${Math.round(step * 0.7)}"
 height="${height}" rx="2"/>
${i % every === 0 && html`<text x="${middle}" y="${HEIGHT - 6}" text-anchor="middle">${under}</text>`}</g>`;
  });
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
<line x1="0" x2="${WIDTH}" y1="20" y2="20"/><text x="0" y="14">${most}</text>
${shown}<line x1="0" x2="${WIDTH}" y1="${HEIGHT - FOOT}" y2="${HEIGHT - FOOT}"/></svg>`;
}
