/** `/person/…/held`: everything that is held about a person, to print for whoever asks. */
import { say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldMembership, HeldPerson, HeldRow } from '../../../store/contract/journal/held-data.ts';
import { textOf } from '../../page/held-values.ts';
import { nameOf } from '../../page/names.ts';
import { fields, table } from '../../page/parts.ts';
import { writeStored } from '../../page/write-stored.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { type Actors, actorsOf, historyTable } from './changes.ts';
import { findVisited, nameOfPerson, pathOf, showing } from './find-visited.ts';
import { readersOf } from './readers.ts';

/** As many fit a sheet of paper; the values of wider rows stand below each other. */
const MOST_COLUMNS = 8;

export const HELD: Screen = {
  path: '/person/:person/held',
  title: say('Everything that is held'),
  personal: 'some',
  read(visit) {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    return { body: body(visit, person, actorsOf(visit, person.history)), shows: showing(person) };
  },
};

function body(visit: Visit, person: HeldPerson, actors: Actors): Html {
  const { say, write, now } = visit;
  const { identityCard, formerIdentityCards, memberships, history, keptResponses } = person;
  return html`<p class="screen"><a href="${pathOf(visit)}">${say('Back')}</a></p>
<h1>${say('Everything that is held about {name}', { name: nameOfPerson(person) })}</h1>
<p><small>${write.moment(now)}</small></p>
${fields([
  [say('National ID'), identityCard],
  [say('Former numbers'), formerIdentityCards.join(', ')],
  [say('Responses kept for repeated requests'), write.number(keptResponses)],
])}
${memberships.map((each) => membership(visit, each))}
<h2>${say('History')}</h2>
${historyTable(visit, say('History'), history, actors)}
<h2>${say('Who has seen the data')}</h2>
${readersOf(visit, person)}`;
}

function membership(visit: Visit, held: HeldMembership): Html {
  const { say, translate } = visit;
  const { member } = held;
  const shown = (row: HeldRow, field: string) => writeStored(visit, field, row[field]);
  const lists: readonly (readonly [string, readonly HeldRow[]])[] = [
    [say('Deliveries'), held.deliveries],
    [say('Loans'), held.loans],
    [say('Payments'), held.payments],
    [say('Savings accounts'), held.savingsAccounts],
    [say('Savings transactions'), held.savingsTransactions],
  ];
  const fieldsOf = (rows: readonly HeldRow[]) =>
    Object.keys(rows[0] ?? {}).filter(
      // The heading above says whose they are.
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
