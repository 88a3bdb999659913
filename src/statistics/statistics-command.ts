/** The command `statistics`: totals of one cooperative, or of all (docs/api.md#statistics). */
import { type Command, Option } from 'commander';
import { formatCsvRow } from '../formats/write-csv-and-workbooks.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { formatFields, formatTable } from '../terminal/output.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { say } from '../values/message.ts';
import {
  type DescribedCountry,
  type DescribedStatistics,
  describeCountry,
  describeStatistics,
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
        const { name, document } = await withStore(openStatisticsOf(run.storage), (statistics) => {
          if (!statistics.hasTotals()) throw otherTotals(run);
          return code === undefined ? describeAll(statistics, run) : describeOne(statistics, code, run);
        });
        if (run.options.csv === true) run.out(formatStatisticsCsv(document));
        else run.show(document, formatStatistics(name, document));
      }),
    );
}

const otherTotals = ({ options }: Run<StatisticsOptions>) =>
  new CommandError(
    EXIT.usage,
    say('The totals were stored by another release. To refresh them, run {command}', {
      command: typedCommand('summarize', options.db),
    }),
  );

const describeAll = (statistics: StatisticsStore, { now, zone }: Run) => ({
  name: 'all cooperatives',
  document: describeCountry(statistics.ofCountry(null, now), zone, true),
});

function describeOne(statistics: StatisticsStore, code: string, { now, zone }: Run) {
  const cooperative = statistics.findCooperative(code);
  const sums = cooperative && statistics.ofCooperative(cooperative.id, now);
  if (sums === undefined) throw new CommandError(EXIT.refused, 'There is no cooperative with this code.');
  return { name: `${code} ${cooperative?.name}`, document: describeStatistics(sums, zone, true) };
}

type Described = DescribedStatistics | DescribedCountry;

const GROUPS = [
  ['Status', 'by_status'],
  ['Gender (active members)', 'by_gender'],
  ['Role (active members)', 'by_role'],
  ['Year of joining', 'by_joining_year'],
] as const;

const tableOf = (headings: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  rows.length === 0
    ? ''
    : formatTable(
        headings,
        rows.map((row) => row.map((value) => String(value ?? '-'))),
      );

function formatStatistics(name: string, document: Described): string {
  const { members, production, loans, savings } = document;
  const places = ['Cooperatives', 'Active members'];
  const loansByStatus = Object.entries(loans ?? {}).filter(([, { count }]) => count > 0);
  const parts = [
    formatFields([
      ['Statistics of', name],
      ['As of', document.as_of],
      ['Members', String(members.total)],
    ]),
    ...GROUPS.map(([heading, group]) =>
      tableOf(
        [heading, 'Members'],
        Object.entries<number>(members[group]).filter(([, count]) => count > 0),
      ),
    ),
    ...('districts' in document
      ? [
          tableOf(['District', ...places], document.districts.map(Object.values<unknown>)),
          tableOf(['Sector', ...places], document.sectors.map(Object.values<unknown>)),
        ]
      : []),
    tableOf(['Month', 'Product', 'Deliveries', 'Kilograms'], (production ?? []).map(Object.values<unknown>)),
    tableOf(
      ['Loans', 'Number', 'Amount (RWF)', 'Paid (RWF)', 'Outstanding (RWF)'],
      loansByStatus.map(([status, sums]) => [status, ...Object.values(sums)]),
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

/** Formats one number per row, so that spreadsheets can filter and sum the numbers. */
function formatStatisticsCsv(document: Described): string {
  const rows: string[][] = [['group', 'key', 'product', 'measure', 'value']];
  const add = (group: string, key: string, measures: object, product = ''): void => {
    for (const [measure, value] of Object.entries(measures))
      rows.push([group, key, product, measure, String(value)]);
  };
  const { members, production, loans, savings, as_of, sequence } = document;
  add('statistics', '', { as_of, sequence });
  add('members', '', { total: members.total });
  for (const [, group] of GROUPS)
    for (const [key, count] of Object.entries(members[group]))
      add(`members_${group}`, key, { members: count });
  for (const { month, product, ...measures } of production ?? [])
    add('production', month, measures, product ?? '');
  for (const [status, measures] of Object.entries(loans ?? {})) add('loans', status, measures);
  add('savings', '', savings ?? {});
  if ('districts' in document) {
    for (const { district, ...measures } of document.districts) add('districts', district ?? '', measures);
    for (const { sector, ...measures } of document.sectors) add('sectors', sector ?? '', measures);
  }
  return rows.map(formatCsvRow).join('');
}
