/** What both searches of duplicates share: they run in a process of their own, and are shown page by page. */
import type { PageRequest } from '../../../domain/values/page.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldMembership } from '../../../store/contract/journal/held-data.ts';
import type { Work } from '../../importing/command-queue.ts';
import { numberOf } from '../../page/held-values.ts';
import { pageNumber } from '../../page/list.ts';
import { form } from '../../page/parts.ts';
import { failure, runAs, workUnderWay } from '../../page/under-way.ts';
import type { Action, Page, Shows, Visit } from '../../visit/screen.ts';

/** Of what was found. */
const PAGE_SIZE = 10;

interface Search<Found> {
  /** The screen may take out what was settled since. */
  readonly found: Found;
  /** Epoch seconds. */
  readonly at: number;
}

/** @returns what was found; until then, the page that waits for it or says why there is nothing */
export function searchFor<Found>(
  visit: Visit,
  work: Work,
  path: string,
  heading: Html,
  sentence: string,
): Search<Found> | Page {
  const { files } = visit.desk;
  const run = files.commands.workOf(work) ?? files.commands.startWork(work, [], runAs(visit));
  if (run.isAtWork) return { ...workUnderWay(visit, heading, sentence, run), shows: 'nobody' };
  const found = run.document as Found | undefined;
  if (found === undefined)
    return { body: html`${heading}${failure(visit, run)}${again(visit, path)}`, shows: 'nobody' };
  return { found, at: run.startedAt };
}

export const searchAgain =
  (work: Work, path: string): Action =>
  (visit) => {
    visit.desk.files.commands.startWork(work, [], runAs(visit));
    return { goTo: path };
  };

/** @param at when it was looked for, in epoch seconds */
export const again = (visit: Visit, path: string, at?: number): Html =>
  form(visit, {
    path,
    action: 'again',
    look: 'plain',
    button: visit.say('Look again'),
    body:
      at === undefined
        ? ''
        : html`<p>${visit.say('Looked for at {at}: what was recorded since is not compared.', {
            at: visit.write.moment(at),
          })}</p>`,
  });

export const pageOf = ({ query }: Visit): PageRequest => ({
  page: pageNumber(query, 'page'),
  pageSize: PAGE_SIZE,
});

export const showing = (sides: readonly HeldMembership[]): Shows => ({
  fields: ['identity', 'contact'],
  subject: { memberIds: sides.map(({ member }) => numberOf(member, 'id')) },
});
