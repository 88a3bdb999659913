/** `/person/…/readers`: who has seen the data of a person, as the access ledger has it (docs/ledger.md). */
import {
  findPersonReadings,
  formatReader,
  HOW_READ,
  type PersonReading,
  passedOver,
} from '../../../app/readings/person-readings.ts';
import { type Message, say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldPerson } from '../../../store/contract/journal/held-data.ts';
import { withCommands } from '../../page/commands.ts';
import { table } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { findVisited, nameOfPerson, pathOf, showing } from './find-visited.ts';

const WITHOUT_KEY = say(
  'A key of the ledger is lost: whose numbers were asked for while it was used cannot be found out.',
);

/** The latest ones; `ledger person` shows all. */
const SHOWN = 100;

// A page of its own: all of the ledger is read for it, which takes longer than a page of a person should.
export const READERS: Screen = {
  path: '/person/:person/readers',
  title: say('Who has seen the data'),
  personal: 'some',
  read(visit) {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    const body = html`<p class="screen"><a href="${pathOf(visit)}">${visit.say('Back')}</a></p>
<h1>${visit.say('Who has seen the data of {name}', { name: nameOfPerson(person) })}</h1>
${readersOf(visit, person)}`;
    return { body, shows: showing(person) };
  },
};

/** The accesses to the data of a person, with their purposes; the latest ones, if they are many. */
export function readersOf(visit: Visit, person: HeldPerson): Html {
  const traces = visit.use((storage) => storage.openHeldData()).findTraces(person.identityCard);
  const ledger = visit.use((storage) => storage.openLedgerReader());
  const { readings, isKeyLost, unreadable } = findPersonReadings(ledger, traces);
  const shown = readings.slice(-SHOWN).reverse();
  const older = readings.length - shown.length;
  return html`${
    shown.length === 0
      ? html`<p>${visit.say('The access ledger has no reading of this person.')}</p>`
      : readers(visit, shown, keyNames(visit))
  }
${
  older > 0 &&
  html`<p><small>${withCommands(
    visit.say('{n} older ones: `registry ledger person` shows them.', { n: older }),
  )}</small></p>`
}
${isKeyLost && html`<p><small>${visit.translate(WITHOUT_KEY)}</small></p>`}
${unreadable.map(
  ({ name, reason }) => html`<p><small>${visit.translate(passedOver(name, reason))}</small></p>`,
)}`;
}

function keyNames({ use, desk, now }: Visit): ReadonlyMap<number, string> {
  if (!desk.storage.hasKeys()) return new Map();
  const keys = use((storage) => storage.openKeys('manage')).list(now);
  return new Map(keys.map(({ id, name }) => [id, name]));
}

/** What a program did, by the first that fits. */
const REQUESTS: readonly (readonly [route: RegExp, what: Message])[] = [
  [/^(?!GET )/, say('a change by a program')],
  [/\/export$/, say('an export by a program')],
  [/\/\{(?:nid|id)\}\/?$/, say('a lookup by a program')],
  [/^/, say('a list for a program')],
];

/** A route in words: of the service, a command, or a screen of the desk. */
function describeRoute({ desk }: Visit, route: string): Message {
  if (route.startsWith('desk ')) {
    const screen = desk.screens.find(({ path }) => route === `desk ${path}`);
    return say('the desk: {page}', { page: screen?.title ?? route.slice(5) });
  }
  const [, what] = REQUESTS.find(([pattern]) => / \//.test(route) && pattern.test(route)) ?? [];
  return what ?? say('the command {command}', { command: `\`${route}\`` });
}

function readers(visit: Visit, readings: readonly PersonReading[], names: ReadonlyMap<number, string>): Html {
  const headings = [
    visit.say('When'),
    visit.say('Who'),
    visit.say('Asked for'),
    visit.say('How'),
    visit.say('Purpose'),
    visit.say('Receipt'),
  ];
  return table(
    visit.say('Who has seen the data'),
    headings.map((heading) => ({ heading })),
    readings.map((reading) => [
      visit.write.moment(Math.floor(Date.parse(reading.entry.time) / 1000)),
      visit.translate(formatReader(reading.entry, names)),
      visit.translate(HOW_READ[reading.how]),
      withCommands(visit.translate(describeRoute(visit, reading.entry.route))),
      [reading.entry.purpose, reading.entry.end_user].filter((text) => text !== undefined).join('; '),
      html`<code>${reading.entry.receipt}</code>`,
    ]),
  );
}
