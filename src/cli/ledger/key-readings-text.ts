/** Whom a key has read, as the command shows it: text for people, JSON for programs. */
import type { KeyReadings } from '../../app/readings/key-readings.ts';
import type { CooperativeSummary } from '../../domain/membership/cooperatives.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { type Message, say, type Text } from '../../domain/values/message.ts';
import { shownTime } from '../persons/reading-text.ts';
import { formatTable } from '../terminal/output.ts';

interface Showing {
  readonly zone: TimeZone;
  readonly cooperatives: readonly CooperativeSummary[];
}

export const WITHOUT_KEY = say(
  'A key of the ledger is lost: whose numbers were asked for while it was used cannot be found out.',
);

/** Codes of the cooperatives of which everybody was exported; null: of all. */
const exportedCodes = ({ exported }: KeyReadings, { cooperatives }: Showing): string[] | null =>
  exported && [...exported].map((id) => cooperatives.find((each) => each.id === id)?.code ?? `id ${id}`);

export const describeKeyReadings = (readings: KeyReadings, showing: Showing) => ({
  persons: readings.persons.map(({ identityCard, times, first, last }) => ({
    identity_card: identityCard,
    times,
    first: shownTime(first, showing.zone),
    last: shownTime(last, showing.zone),
  })),
  pages: readings.pages,
  exports: readings.exports,
  exported_cooperatives: exportedCodes(readings, showing),
  unknown: readings.unknown,
  without_key: readings.withoutKey,
});

function remarksOn(readings: KeyReadings, showing: Showing): Message[] {
  const { persons, pages, exports, unknown, withoutKey } = readings;
  const codes = exportedCodes(readings, showing);
  return [
    say('{n|# person was|# persons were} read.', { n: persons.length }),
    ...(pages === 0 ? [] : [say('Everybody on the {n|page|# pages} of lists is among them.', { n: pages })]),
    ...(exports > 0 && codes === null
      ? [say('Of {n|an export|# exports} everybody has to be counted too: all cooperatives.', { n: exports })]
      : []),
    ...(exports > 0 && codes !== null
      ? [
          say('Of {n|an export|# exports} everybody has to be counted too, in: {codes}.', {
            n: exports,
            codes,
          }),
        ]
      : []),
    ...(unknown === 0
      ? []
      : [
          say('{n|# reading was|# readings were} of numbers or members that nobody has now.', { n: unknown }),
        ]),
    ...(withoutKey === 0 ? [] : [WITHOUT_KEY]),
  ];
}

/** The only text beside that of `persons show` that shows national IDs: it goes to an authority. */
export function formatKeyReadings(
  readings: KeyReadings,
  showing: Showing,
  translate: (text: Text) => string,
): string {
  const rows = readings.persons.map(({ identityCard, times, first, last }) => [
    identityCard,
    String(times),
    shownTime(first, showing.zone),
    shownTime(last, showing.zone),
  ]);
  const headings = ['NATIONAL ID', 'TIMES', 'FIRST', 'LAST'].map(translate);
  const table = rows.length === 0 ? '' : `${formatTable(headings, rows)}\n`;
  return `${table}${remarksOn(readings, showing)
    .map((text) => `${translate(text)}\n`)
    .join('')}`;
}
