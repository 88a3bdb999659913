/** What needs somebody's attention, with the command that settles it. */
import type { Attention } from '../../app/condition/attention.ts';
import { type Message, say } from '../../domain/values/message.ts';
import { type Html, html } from '../../html/html.ts';
import { nameOf } from '../page/names.ts';
import type { Visit } from '../visit/screen.ts';

/** Where a page settles it. */
const PLACES: { readonly [about in Attention['about']]?: readonly [path: string, name: Message] } = {
  backup: ['/health', say('Back up now')],
  keys: ['/keys', say('Keys')],
};

export const attention = (visit: Visit, found: readonly Attention[]): Html =>
  found.length === 0
    ? html`<p class="well">${visit.say('Nothing needs attention.')}</p>`
    : html`<section class="attention"><h2>${visit.say('Needs attention')}</h2><ul>${found.map(
        ({ about, text, command }) => {
          const [path, name] = PLACES[about] ?? [];
          return html`<li><b>${visit.translate(nameOf(about))}</b> ${visit.translate(text)}
${name && html`<a href="${path}">${visit.translate(name)}</a>`}
<details><summary>${visit.say('For whoever looks after this machine')}</summary>
<code>${command}</code></details></li>`;
        },
      )}</ul></section>`;
