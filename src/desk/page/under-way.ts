/** A page that waits for work that goes on, and asks again by itself. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import type { Page, Visit } from '../visit/screen.ts';

const AGAIN_SECONDS = 2;

/** @param part how much is done, up to 1; undefined when nobody knows */
export function workUnderWay({ say }: Visit, heading: HtmlValue, sentence: string, part?: number): Page {
  const value = part !== undefined && html` value="${part.toFixed(2)}"`;
  const body: Html = html`${heading}<div class="card" role="status"><p>${sentence}</p>
<progress${value} max="1" aria-label="${sentence}"></progress>
<p><small>${say('You may leave this page: it goes on. The page is loaded again by itself.')}</small></p>
</div>`;
  return { body, refreshSeconds: AGAIN_SECONDS };
}
