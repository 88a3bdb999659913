/** The rows that are entered and changed by hand, and where the forms for them are. */
import { type Message, say } from '../../domain/values/message.ts';
import { type Html, html } from '../../html/html.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import type { Visit } from '../visit/screen.ts';

/** What can be entered for a cooperative, with the heading, and what the next row of the same paper keeps. */
export const ENTERED: {
  readonly [kind in Exclude<ImportKind, 'cooperatives'>]: {
    readonly heading: Message;
    readonly kept: readonly string[];
  };
} = {
  members: { heading: say('New member'), kept: [] },
  production: { heading: say('New delivery'), kept: ['delivered_at', 'product'] },
  savings: { heading: say('New savings transaction'), kept: ['transacted_at', 'kind'] },
  loans: { heading: say('New loan'), kept: [] },
  payments: { heading: say('New payment'), kept: ['paid_at', 'method'] },
};

export type EnteredKind = keyof typeof ENTERED;

export const isEnteredKind = (kind: string | undefined): kind is EnteredKind =>
  kind !== undefined && Object.hasOwn(ENTERED, kind);

/** A link to the form for a new row. @param owner the id of a membership; of the loan for a payment */
export const enterLink = ({ translate }: Visit, person: string, kind: EnteredKind, owner: string): Html =>
  html`<a href="${enterPath(person, kind, owner)}">${translate(ENTERED[kind].heading)}</a>`;

/** A link to the form that changes a row. @param id of the row. @param list that it goes on with */
export const changeLink = (
  { say }: Visit,
  person: string,
  kind: EnteredKind,
  id: string,
  list?: string,
): Html => html`<a href="${changePath(person, kind, id, list)}">${say('Change…')}</a>`;

/** @param person the address of the page of the person. @param id of the row */
export const changePath = (person: string, kind: EnteredKind, id: string, list?: string): string =>
  `${person}/change/${kind}/${id}${list === undefined ? '' : `?list=${encodeURIComponent(list)}`}`;

/** The list that a row is changed from, of a cooperative: no other address. */
export function listIn(query: URLSearchParams): string | undefined {
  const list = query.get('list') ?? '';
  return /^\/cooperative\/[\w-]+\/[a-z-]+(?:\?[\w=&-]*)?$/.test(list) ? list : undefined;
}

/** @param owner the id of a membership; of the loan for a payment */
export const enterPath = (person: string, kind: EnteredKind, owner: string): string =>
  `${person}/enter/${kind}/${owner}`;
