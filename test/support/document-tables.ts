/** Tables of the documents that are made from the code's declarations, and the program that writes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { comparison, listMissing, readResults } from '../../bench/country/figures.ts';
import { REFUSALS, SCOPE_MEANINGS } from '../../src/access/api-keys.ts';
import { describeColumns, IMPORT_COLUMNS } from '../../src/import/table/columns.ts';
import { DECLARATIONS, declarationOf, type MetricName } from '../../src/metrics/service-metrics.ts';
import { createProgram } from '../../src/program.ts';
import { IMPORT_KINDS } from '../../src/registry/file-columns.ts';
import { SETTINGS, type Setting } from '../../src/runtime/config.ts';
import { systemClock } from '../../src/runtime/scheduler.ts';
import { UNAVAILABLE_REASONS } from '../../src/values/errors.ts';
import { deprecatedTable } from './api-tables.ts';
import { code, list, table } from './markdown.ts';

/** Documents with such tables, by their path from the project's folder. */
export const GENERATED_DOCUMENTS = ['api', 'operating', 'metrics', 'keys', 'import-reference', 'scale'].map(
  (name) => `docs/${name}.md`,
);

/** Help texts are plain: what Markdown would take for a tag or for emphasis is escaped. */
const prose = (text: string): string => text.replace(/[<*]/g, '\\$&');

function settings(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([name, setting]) => [
    setting.option === undefined ? code(name) : `${code(name)}, ${code(setting.option)}`,
    setting.hasNoDefault === true ? setting.default : code(setting.default),
    setting.help,
  ]);
  return table(['Setting', 'Default', 'Meaning'], rows);
}

/** The commands and groups of the first level. */
async function firstCommands(): Promise<readonly Command[]> {
  const nowhere = () => {};
  const program = await createProgram({
    env: {},
    clock: systemClock,
    out: nowhere,
    err: nowhere,
    terminal: undefined,
  });
  return program.commands;
}

/** Every command that does something, by its name with the names of its groups. */
export async function namedCommands(): Promise<Map<string, Command>> {
  const named = new Map<string, Command>();
  for (const command of await firstCommands()) {
    // `backup` and `duplicates` do something themselves, and have a subcommand.
    if (command.commands.length === 0 || command.registeredArguments.length + command.options.length > 0)
      named.set(command.name(), command);
    for (const each of command.commands) named.set(`${command.name()} ${each.name()}`, each);
  }
  return named;
}

/** One line for each command of the first level, with the names of those that it groups. */
function commands(groups: readonly Command[]): string {
  const rows = groups.map((group) => {
    const names = group.commands.map((each) => each.name());
    // Some descriptions end with the same names.
    const [does = '', list = ''] = group.description().split(/: (?=[a-z]+(?:, [a-z]+)*$)/);
    const isSaid = list.split(', ').every((name) => names.includes(name));
    return [[group.name(), ...names].map(code).join(' '), prose(isSaid ? does : group.description())];
  });
  return list(rows);
}

function metrics(): string {
  const rows = (Object.keys(DECLARATIONS) as MetricName[]).map((name) => {
    const { type, labels = [], help } = declarationOf(name);
    // The name of every other one says its type.
    const note = type === 'histogram' ? ' (a histogram)' : '';
    return [code(labels.length === 0 ? name : `${name}{${labels.join(',')}}`), help + note];
  });
  return list(rows);
}

const scopes = (): string =>
  list(Object.entries(SCOPE_MEANINGS).map(([scope, meaning]) => [code(scope), meaning]));

const refusals = (): string =>
  list(Object.entries(REFUSALS).map(([reason, meaning]) => [code(reason), meaning]));

function importColumns(): string {
  return list(IMPORT_KINDS.map((kind) => [kind, describeColumns(kind)]));
}

/** The words that the registry stores in the columns of a choice. */
function choicesOfColumns(): string {
  const rows = IMPORT_KINDS.flatMap((kind) =>
    IMPORT_COLUMNS[kind].flatMap(({ name, choices }) =>
      choices === undefined ? [] : [[`${kind}, ${code(name)}`, choices.map(code).join(' ')]],
    ),
  );
  return list(rows);
}

/** Figures that follow from others, or that size hardly changes; all are in bench/results/country.json. */
const LEFT_OUT = new RegExp(
  '^(?:statistics|merge|start|export|member list|import of loans|import of payments|size of a)|' +
    ' rate [(]|other files|the middle|, again |memory after|additional|connections, p99',
);

/** What `make country` has measured, each size beside 200,000 members. */
function sizesMeasured(): string {
  const entries = Object.values(readResults());
  const { headings, rows } = comparison(entries);
  const missing = listMissing(entries).map((line) => `\n- not measured: ${line}`);
  const chosen = rows.filter(([figure = '']) => !LEFT_OUT.test(figure));
  return [table(headings, chosen), ...missing].join('\n');
}

/** Each table by the name that its region in a document gives. */
async function tables(): Promise<{ readonly [name: string]: () => string }> {
  const groups = await firstCommands();
  return {
    settings,
    commands: () => commands(groups),
    metrics,
    scopes,
    refusals,
    'reasons of unavailability': () =>
      list(Object.entries(UNAVAILABLE_REASONS).map(([reason, meaning]) => [code(reason), meaning])),
    deprecated: () => deprecatedTable(),
    'import columns': importColumns,
    'choices of columns': choicesOfColumns,
    'sizes measured': sizesMeasured,
  };
}

const REGION = /(<!-- generated: ([\w ]+) -->\n)[\s\S]*?(<!-- end -->)/g;

/** The document with its tables as the code declares them. @throws Error for a region of an unknown name */
export async function withTables(text: string): Promise<string> {
  const known = await tables();
  return text.replace(REGION, (_, start: string, name: string, end: string) => {
    const make = known[name];
    if (make === undefined) throw new Error(`There is no table called "${name}".`);
    return `${start}${make()}\n${end}`;
  });
}

/** Names of the tables that a document has. */
export const tableNames = (text: string): string[] =>
  [...text.matchAll(REGION)].map(([, , name = '']) => name);

export const documentFile = (path: string): string =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of GENERATED_DOCUMENTS) {
    const file = documentFile(path);
    writeFileSync(file, await withTables(readFileSync(file, 'utf8')));
  }
}
