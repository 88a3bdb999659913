/** `/person/…/readers`: accesses to the data of a person, from the access ledger (docs/ledger.md). */

import { table, withCommands } from '../../desk/parts.ts';
import type { Screen, Visit } from '../../desk/screen.ts';
import { readKeyNames } from '../../keys/key-text.ts';
import { openLedgerReader } from '../../ledger/ledger-reader.ts';
import {
  findPersonAccesses,
  formatReader,
  HOW_READ,
  KEY_LOST,
  type PersonAccess,
  passedOver,
} from '../../ledger/person-accesses.ts';
import { openPersonTraces } from '../../ledger/person-traces.ts';
import { findVisited, nameOfPerson, personPath, showing } from '../../registry/pages/find-visited.ts';
import type { StoredPerson } from '../../registry/stored/stored-data-types.ts';
import { namedRegistry } from '../../runtime/config.ts';
import { type Html, html } from '../../values/html.ts';
import { type Message, say } from '../../values/message.ts';

/** Maximum number of accesses on the page. `ledger person` lists all. */
const SHOWN = 100;

export const readPerson =
  (body: (visit: Visit, person: StoredPerson) => Html): Screen['read'] =>
  (visit) => {
    const person = findVisited(visit);
    return person && { body: body(visit, person), shows: showing(person) };
  };

// The accesses have their own page, because a scan of the entire ledger would slow down the person's page.
export const READERS: Screen = {
  path: '/person/:person/readers',
  title: say('Who has seen this record'),
  personal: 'some',
  read: readPerson(
    (visit, person) => html`<p class="screen"><a href="${personPath(visit)}">${visit.say('Back')}</a></p>
<h1>${visit.say('Who has seen the record of {name}', { name: nameOfPerson(person) })}</h1>
${readersOf(visit, person)}`,
  ),
};

export function readersOf(visit: Visit, person: StoredPerson): Html {
  const traces = visit.use(openPersonTraces).findTraces(person.identityCard);
  const ledger = openLedgerReader(visit.desk.storage.pathForOpening());
  const { accesses, isKeyLost, unreadable } = findPersonAccesses(ledger, traces);
  const shown = accesses.slice(-SHOWN).reverse();
  const older = accesses.length - shown.length;
  return html`${
    shown.length === 0
      ? html`<p>${visit.say('The access ledger has no entry for this person.')}</p>`
      : readers(visit, shown, readKeyNames(visit.desk.storage, visit.now))
  }
${
  older > 0 &&
  html`<p><small>${withCommands(
    visit.say('{n} older entries: `registry ledger person` lists them.', { n: older }),
    namedRegistry(visit.desk.config),
  )}</small></p>`
}
${isKeyLost && html`<p><small>${visit.translate(KEY_LOST)}</small></p>`}
${unreadable.map(
  ({ name, reason }) => html`<p><small>${visit.translate(passedOver(name, reason))}</small></p>`,
)}`;
}

/** Descriptions of API routes; the first match applies. */
const REQUESTS: readonly (readonly [route: RegExp, what: Message])[] = [
  [/^(?!GET )/, say('a change by a program')],
  [/\/export$/, say('an export by a program')],
  [/\/\{(?:nid|id)\}\/?$/, say('a lookup by a program')],
  [/^/, say('a list for a program')],
];

/** Describes a route of the service, a command, or a screen of the desk. */
function describeRoute({ desk }: Visit, route: string): Message {
  if (route.startsWith('desk ')) {
    const screen = desk.screens.find(({ path }) => route === `desk ${path}`);
    return say('the desk: {page}', { page: screen?.title ?? route.slice(5) });
  }
  const [, what] = REQUESTS.find(([pattern]) => / \//.test(route) && pattern.test(route)) ?? [];
  return what ?? say('the command {command}', { command: `\`${route}\`` });
}

function readers(visit: Visit, accesses: readonly PersonAccess[], names: ReadonlyMap<number, string>): Html {
  const { say } = visit;
  const headings = [say('When'), say('Who'), say('Asked for'), say('How'), say('Purpose'), say('Receipt')];
  return table(
    say('Who has seen this record'),
    headings.map((heading) => ({ heading })),
    accesses.map(({ entry, how }) => [
      visit.write.moment(Math.floor(Date.parse(entry.time) / 1000)),
      visit.translate(formatReader(entry, names)),
      visit.translate(HOW_READ[how]),
      withCommands(visit.translate(describeRoute(visit, entry.route))),
      [entry.purpose, entry.end_user].filter((text) => text !== undefined).join('; '),
      html`<code>${entry.receipt}</code>`,
    ]),
  );
}
