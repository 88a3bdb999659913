/** `/person/…`: one person, in all cooperatives and statuses. */

import { fields, table } from '../../desk/parts.ts';
import type { Screen, Visit } from '../../desk/screen.ts';
import { findVisited, nameOfPerson, personPath, showing } from '../../registry/pages/find-visited.ts';
import {
  changeLink,
  enterLink,
  memberValues,
  nameOf,
  textOf,
  writeStored,
} from '../../registry/pages/stored-values.ts';
import type { StoredMembership, StoredPerson, StoredRow } from '../../registry/stored/stored-data-types.ts';
import { type Html, html } from '../../values/html.ts';
import { say } from '../../values/message.ts';
import { type Actors, actorsOf, changes, historyTable } from './changes-page.ts';
import { CORRECTING, correctionForms, entryActions } from './correction-pages.ts';
import { deliveries, loans, savings } from './entry-pages.ts';
import { readersOf } from './readers.ts';

export const PERSON: Screen = {
  path: '/person/:person',
  title: say('Person'),
  personal: 'some',
  read(visit) {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    return { body: body(visit, person, actorsOf(visit, person.history)), shows: showing(person) };
  },
  actions: CORRECTING,
};

function body(visit: Visit, person: StoredPerson, actors: Actors): Html {
  const { identityCard, formerIdentityCards, memberships: all, history } = person;
  const end = entryActions(visit);
  return html`<h1>${nameOfPerson(person)}</h1>
${fields([
  [visit.say('National ID'), identityCard],
  [visit.say('Former numbers'), formerIdentityCards.join(', ')],
])}
<p><a href="${personPath(visit)}/held">${visit.say('Everything that is held, to print')}</a>${
    visit.desk.config.accessLedger &&
    html` · <a href="${personPath(visit)}/readers">${visit.say('Who has seen the data')}</a>`
  }</p>
<div class="beside">${all.map((each) => membership(visit, each, true))}</div>
${deliveries(visit, all, end)}
${loans(visit, all, end)}
${savings(visit, all, end)}
${changes(visit, history, actors)}
${correctionForms(visit, person)}`;
}

export const memberships = (visit: Visit, all: readonly StoredMembership[]): Html =>
  html`<div class="beside">${all.map((each) => membership(visit, each, false))}</div>`;

function membership(visit: Visit, { member }: StoredMembership, isChangeable: boolean): Html {
  const code = textOf(member, 'cooperative');
  return html`<section class="card"><h3><a href="/cooperative/${code}">${code}</a></h3>${fields(
    memberValues(visit, member),
  )}${
    isChangeable &&
    html`<p>${changeLink(visit, personPath(visit), 'members', textOf(member, 'id'))}${OWNED.map(
      (kind) => html` ${enterLink(visit, personPath(visit), kind, textOf(member, 'id'))}`,
    )}</p>`
  }</section>`;
}

/** Kinds of entries that can be entered for a membership. */
const OWNED = ['production', 'savings', 'loans'] as const;

// `/person/…/held`: all stored data of a person, printable for the data subject

/** Columns that fit on a sheet of paper; wider rows are shown as lists of values. */
const MOST_COLUMNS = 8;

export const HELD: Screen = {
  path: '/person/:person/held',
  title: say('Everything that is held'),
  personal: 'some',
  read(visit) {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    return { body: bodyHeld(visit, person, actorsOf(visit, person.history)), shows: showing(person) };
  },
};

function bodyHeld(visit: Visit, person: StoredPerson, actors: Actors): Html {
  const { say, write, now } = visit;
  const { identityCard, formerIdentityCards, memberships, history, keptResponses } = person;
  return html`<p class="screen"><a href="${personPath(visit)}">${say('Back')}</a></p>
<h1>${say('Everything that is held about {name}', { name: nameOfPerson(person) })}</h1>
<p><small>${write.moment(now)}</small></p>
${fields([
  [say('National ID'), identityCard],
  [say('Former numbers'), formerIdentityCards.join(', ')],
  [say('Responses kept for repeated requests'), write.number(keptResponses)],
])}
${memberships.map((each) => membershipHeld(visit, each))}
<h2>${say('History')}</h2>
${historyTable(visit, say('History'), history, actors)}
<h2>${say('Who has seen the data')}</h2>
${readersOf(visit, person)}`;
}

function membershipHeld(visit: Visit, held: StoredMembership): Html {
  const { say, translate } = visit;
  const { member } = held;
  const shown = (row: StoredRow, field: string) => writeStored(visit, field, row[field]);
  const lists: readonly (readonly [string, readonly StoredRow[]])[] = [
    [say('Deliveries'), held.deliveries],
    [say('Loans'), held.loans],
    [say('Payments'), held.payments],
    [say('Savings accounts'), held.savingsAccounts],
    [say('Savings transactions'), held.savingsTransactions],
  ];
  const fieldsOf = (rows: readonly StoredRow[]) =>
    Object.keys(rows[0] ?? {}).filter(
      // The heading above names their owner.
      (field) => !field.endsWith('_id') && rows.some((row) => row[field] !== null),
    );
  const names = { code: textOf(member, 'member_code'), cooperative: textOf(member, 'cooperative') };
  return html`<h2>${say('Member {code} of {cooperative}', names)}</h2>
${fields(Object.keys(member).map((field) => [translate(nameOf(field)), shown(member, field)]))}
${lists.map(
  ([heading, rows]) =>
    rows.length > 0 &&
    html`<h3>${heading}</h3>${
      fieldsOf(rows).length > MOST_COLUMNS
        ? rows.map(
            (row) =>
              html`<div class="card">${fields(
                fieldsOf(rows).map((field) => [translate(nameOf(field)), shown(row, field)]),
              )}</div>`,
          )
        : table(
            heading,
            fieldsOf(rows).map((field) => ({ heading: translate(nameOf(field)) })),
            rows.map((row) => fieldsOf(rows).map((field) => shown(row, field))),
          )
    }`,
)}`;
}
