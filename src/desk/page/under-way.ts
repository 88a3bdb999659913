/** Pages that wait for a command in a process of its own, or show why it has failed. */
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import type { CommandRun, RunAs } from '../importing/command-run.ts';
import type { Page, Visit } from '../visit/screen.ts';

export const runAs = ({ session, language, now }: Visit): RunAs => ({
  user: session.user,
  language,
  startedAt: now,
});

/** It asks again by itself. */
export function workUnderWay(
  { say }: Visit,
  heading: HtmlValue,
  sentence: string,
  { progress }: CommandRun,
): Page {
  const value = progress !== undefined && html` value="${progress.toFixed(2)}"`;
  const body: Html = html`${heading}<div class="card" role="status"><p>${sentence}</p>
<progress${value} max="1" aria-label="${sentence}"></progress>
<p><small>${say('You may leave this page: it goes on. The page is loaded again by itself.')}</small></p>
</div>`;
  return { body, refreshSeconds: 1 };
}

/** What the command says where it does not come to a result. */
export const failure = (visit: Visit, run: CommandRun): Html =>
  html`<p class="refused" role="alert">${
    hideIdentityCards(run.errors.trim()) || visit.say('It was stopped.')
  }</p>`;
