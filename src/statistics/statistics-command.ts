/** `statistics`: sums of one cooperative, or of all (docs/api.md#statistics). */
import { type Command, Option } from 'commander';
import { formatCsvRow } from '../formats/write-csv.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { formatFields, formatTable } from '../terminal/output.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import {
  describeCountry,
  describeStatistics,
  type ShownCountry,
  type ShownStatistics,
} from './statistics.ts';
import { openStatisticsOf, type StatisticsStore } from './statistics-store.ts';

interface StatisticsOptions extends PrintOptions {
  readonly csv?: true;
}

export function declareStatistics(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command))
    .addOption(new Option('--csv', 'print rows for a spreadsheet, one number in each').conflicts('json'))
    .argument('[code]', 'code of a cooperative; without it, all cooperatives', parseCode)
    .action(
      acting(context, async (run: Run<StatisticsOptions>, code: string | undefined) => {
        const { name, shown } = await withStore(openStatisticsOf(run.storage), (statistics) =>
          code === undefined ? describeAll(statistics, run) : describeOne(statistics, code, run),
        );
        if (run.options.csv === true) run.out(formatStatisticsCsv(shown));
        else run.show(shown, formatStatistics(name, shown));
      }),
    );
}

const describeAll = (statistics: StatisticsStore, { now, zone }: Run) => ({
  name: 'all cooperatives',
  shown: describeCountry(statistics.ofCountry(null, now), zone, true),
});

function describeOne(statistics: StatisticsStore, code: string, { now, zone }: Run) {
  const cooperative = statistics.findCooperative(code);
  const sums = cooperative && statistics.ofCooperative(cooperative.id, now);
  if (sums === undefined) throw new CommandError(EXIT.refused, 'There is no cooperative with this code.');
  return { name: `${code} ${cooperative?.name}`, shown: describeStatistics(sums, zone, true) };
}

type Shown = ShownStatistics | ShownCountry;

const GROUPS = [
  ['Status', 'by_status'],
  ['Gender (active members)', 'by_gender'],
  ['Role (active members)', 'by_role'],
  ['Year of joining', 'by_joining_year'],
] as const;

/** Tables of the groups that are not empty. */
function formatStatistics(name: string, shown: Shown): string {
  const { members, production, loans, savings } = shown;
  const people = GROUPS.map(([heading, group]) => {
    const counts = Object.entries<number>(members[group]).filter(([, count]) => count > 0);
    return counts.length === 0 ? '' : formatTable([heading, 'Members'], counts.map(toCells));
  });
  const deliveries = (production ?? []).map((row) => [
    ...[row.month, row.product ?? '-', String(row.deliveries), row.total_kg],
  ]);
  const lent = Object.entries(loans ?? {}).filter(([, { count }]) => count > 0);
  const parts = [
    formatFields([
      ['Statistics of', name],
      ['As of', shown.as_of],
      ['Members', String(members.total)],
    ]),
    ...people,
    ...('districts' in shown ? [formatPlaces('District', shown.districts.map(cellsOf('district')))] : []),
    ...('sectors' in shown ? [formatPlaces('Sector', shown.sectors.map(cellsOf('sector')))] : []),
    deliveries.length === 0 ? '' : formatTable(['Month', 'Product', 'Deliveries', 'Kilograms'], deliveries),
    lent.length === 0
      ? ''
      : formatTable(
          ['Loans', 'Number', 'Amount (RWF)', 'Paid (RWF)', 'Outstanding (RWF)'],
          lent.map(([status, sums]) => [status, ...Object.values(sums).map(String)]),
        ),
    savings === null || savings.accounts === 0
      ? ''
      : formatFields([
          ['Savings accounts', String(savings.accounts)],
          ['Contributions (RWF)', savings.total_contributions_rwf],
          ['Withdrawals (RWF)', savings.total_withdrawals_rwf],
          ['Balance (RWF)', savings.balance_rwf],
        ]),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

const toCells = ([value, count]: readonly [string, number]): string[] => [value, String(count)];

type Place = { readonly [name: string]: string | number | null };

const cellsOf =
  (name: string) =>
  (place: Place): string[] => [
    ...[String(place[name] ?? '-'), String(place.cooperatives), String(place.active_members)],
  ];

const formatPlaces = (heading: string, rows: string[][]): string =>
  rows.length === 0 ? '' : formatTable([heading, 'Cooperatives', 'Active members'], rows);

/** One number per row, so that spreadsheets can filter and sum them. */
function formatStatisticsCsv(shown: Shown): string {
  const rows: string[][] = [['group', 'key', 'product', 'measure', 'value']];
  const add = (group: string, key: string, measures: object, product = ''): void => {
    for (const [measure, value] of Object.entries(measures))
      rows.push([group, key, product, measure, String(value)]);
  };
  const { members, production, loans, savings, as_of, sequence } = shown;
  add('statistics', '', { as_of, sequence });
  add('members', '', { total: members.total });
  for (const [, group] of GROUPS)
    for (const [key, count] of Object.entries(members[group]))
      add(`members_${group}`, key, { members: count });
  for (const { month, product, ...measures } of production ?? [])
    add('production', month, measures, product ?? '');
  for (const [status, measures] of Object.entries(loans ?? {})) add('loans', status, measures);
  add('savings', '', savings ?? {});
  if ('districts' in shown) {
    for (const { district, ...measures } of shown.districts) add('districts', district ?? '', measures);
    for (const { sector, ...measures } of shown.sectors) add('sectors', sector ?? '', measures);
  }
  return rows.map(formatCsvRow).join('');
}
