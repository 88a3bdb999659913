/** What needs somebody's attention, with the command that settles it. */
import type { Attention } from '../../app/condition/attention.ts';
import { type Html, html } from '../../html/html.ts';
import { nameOf } from '../page/names.ts';
import type { Visit } from '../visit/screen.ts';

export const attention = (visit: Visit, found: readonly Attention[]): Html =>
  found.length === 0
    ? html`<p class="well">${visit.say('Nothing needs attention.')}</p>`
    : html`<section class="attention"><h2>${visit.say('Needs attention')}</h2><ul>${found.map(
        ({ about, text, command }) =>
          html`<li><b>${visit.translate(nameOf(about))}</b> ${visit.translate(text)}
<code>${command}</code></li>`,
      )}</ul></section>`;
