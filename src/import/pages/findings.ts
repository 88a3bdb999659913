/** Parts of the page of a file, including the findings of the `import` command in words of the desk. */
import { existsSync } from 'node:fs';
import { fields, form, table } from '../../desk/parts.ts';
import type { Shows, Visit } from '../../desk/screen.ts';
import type { ImportChanges } from '../../journal/operations.ts';
import { nameOf, writeStored } from '../../registry/pages/show-stored-values.ts';
import { sequenceOf } from '../../sqlite/storage.ts';
import { FIELD_GROUPS, type StagedValue } from '../../values/declared-fields.ts';
import { type Html, html } from '../../values/html.ts';
import { asMessage, Message, type Text, Written } from '../../values/message.ts';
import { describeColumnChanges, type FirstRow, type NewsPart, type ReportNews } from '../import-report.ts';
import { type DeskFile, deskFilesOf, isImported } from './desk-files.ts';
import type { CommandRun } from './previews-and-runs.ts';

// Messages of the command in words of the desk: with labels of columns and choices, without command options

/** Placeholders of messages whose values are column names or choices. */
const NAMED: readonly string[] = ['column', 'known', 'meant'];

/** Returns a replacement. Its placeholders get the values of the replaced message. */
const saying = (template: string): Message => new Message(template, {});

const NOT_A_DAY = saying('This is not a day, such as 31/03/2024.');

/** Replacements by beginning of the message; undefined for a message that the desk omits. */
const REPLACEMENTS: { readonly [beginning: string]: Message | undefined } = {
  '{file}: {rest} more; the rejects': saying('{rest} more: all of them are among the refused rows.'),
  '{file}: the rejects have': saying('All of them are among the refused rows.'),
  '{file}: {rows}: {count|it stays': saying('{rows}: {count|it stays|they stay}.'),
  '{file}: {rest|# more value is': saying('{rest|# more value is|# more values are} kept.'),
  '{file}: to import these values': undefined,
  'Every national ID ends in 0': saying(
    'Every national ID ends in 0: a spreadsheet has lost the last digit. Enter them again, as texts.',
  ),
  'This person was erased. --': saying('This person was erased.'),
  'The column is missing. For a file of one cooperative': saying(
    'The column is missing. Choose the cooperative of every row.',
  ),
  'The column is missing: member_code': saying('The column is missing: the member code, or the national ID.'),
  'The column is missing: full_name': saying(
    'The column is missing: the name, or the first name and the last name.',
  ),
  'The file has this column, and --cooperative': saying(
    'The file has this column, and a value of every row was chosen too.',
  ),
  'The headings in positions {first}': saying(
    'The columns {first} and {second} both mean this one. Ignore one of them.',
  ),
  'Date has wrong format. Use one of': NOT_A_DAY,
  'Date has wrong format. Write 2024-03-31 or': NOT_A_DAY,
  'Expected a date such as': NOT_A_DAY,
  'Date has wrong format. Write 2024-03-31, ': saying(
    'This is not a day, such as 31/03/2024, or a day and a time, such as 31/03/2024 08:30.',
  ),
  '{date} may be {one} or {other}': saying(
    '{date} may be {one} or {other} {year}. Choose how dates are written.',
  ),
  'It is unclear which number of {date}': saying(
    'It is unclear which number of {date} is the day, the month and the year. ' +
      'Write the year with four digits, or choose how dates are written.',
  ),
  'This date begins with the month.': saying(
    'This date begins with the month. If all dates of the file do, choose that for dates.',
  ),
  'Some dates of this column begin': saying(
    'Some dates of this column begin with the day and others with the month. Write all of them alike.',
  ),
  'This cell holds {value}, and at most': saying(
    'This cell holds {value}, and at most {count} decimals are possible. Round it in the spreadsheet, ' +
      'or have the column rounded.',
  ),
  'This cell shows {shown} and holds': saying(
    'This cell shows {shown} and holds {value}, and at most {count} decimals are possible. ' +
      'Round it in the spreadsheet, or have the column rounded.',
  ),
  'It is unclear whether the point': saying(
    'It is unclear whether the point separates thousands or decimals. Choose a comma or a point, ' +
      'or write 12500 or 12500.00.',
  ),
  'Some values of this column have a': saying(
    'In some values of this column it is not clear what stands before decimals. ' +
      'Choose a comma or a point.',
  ),
  '{found}. If the file is a newer version': saying(
    '{found}. If the file is a newer version of import {id}, choose that where you choose how it is ' +
      'read; if these rows are additional, it is the right file.',
  ),
  '  {rest} more; --json': saying('  {rest} more'),
  'Several sheets may be meant': saying('Several sheets of the workbook may be meant: choose one.'),
  'The workbook has no such sheet': saying('The workbook has no such sheet: choose another one.'),
};

type Value = Message['values'][string];

function inPlace(place: string, value: Value): Value {
  if (typeof value === 'number' || value instanceof Written) return value;
  if (typeof value === 'string' || value instanceof Message) return textInPlace(place, value);
  return value.map((text) => textInPlace(place, text));
}

/** The desk omits some messages, but not where they are a value inside another message. */
function textInPlace(place: string, text: Text): Text {
  if (text instanceof Message) return atDesk(text) ?? text;
  return NAMED.includes(place) && text !== '' ? nameOf(text) : text;
}

/** @returns undefined for a message that the desk omits */
export function atDesk(text: Text): Text | undefined {
  const template = typeof text === 'string' ? text : text.template;
  const beginning = Object.keys(REPLACEMENTS).find((start) => template.startsWith(start));
  const replacement = beginning === undefined ? asMessage(text) : REPLACEMENTS[beginning];
  if (replacement === undefined || typeof text === 'string') return replacement;
  const values = Object.entries(text.values).map(([place, value]) => [place, inPlace(place, value)]);
  return new Message(replacement.template, Object.fromEntries(values));
}

/** Returns the access record for a page with changes, which may contain values of any person. */
export function showingAll({ desk }: Visit): Shows {
  const sequence = sequenceOf(desk.storage);
  const all = { asOfSequence: sequence?.lastSequence ?? 0, cooperativeIds: null };
  return { fields: FIELD_GROUPS, subject: { all } };
}

export const fileOf = ({ desk, places }: Visit): DeskFile | undefined =>
  deskFilesOf({ desk }).find(Number(places.file));
export const pathOf = ({ id }: DeskFile): string => `/import/${id}`;
export const kindOf = ({ kind, proposing }: DeskFile) => kind ?? proposing.proposal?.document.kind;

export const lastRunOf = ({ proposing, check }: DeskFile): CommandRun => check ?? proposing;

export function stateOf(visit: Visit, file: DeskFile): string {
  const run = lastRunOf(file);
  if (run.isAtWork) return run.hasAgreed ? visit.say('being imported') : visit.say('being read');
  if (deskFilesOf(visit).isUndone(file)) return visit.say('undone');
  if (isImported(file)) return visit.say('imported');
  if (file.check === undefined && file.proposing.proposal !== undefined) return visit.say('to be reviewed');
  if (run.report?.outcome === 'accepted') return visit.say('ready to import');
  return visit.say('needs attention');
}

/** Maximum length of a message, which may list thousands of columns. */
const MOST_CHARACTERS = 1_500;

export const shorten = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

const sentence = (visit: Visit, text: Text): string => shorten(visit.translate(text).trim());

export const sentences = (visit: Visit, texts: readonly Text[]): Html =>
  html`<ul>${texts.map((text) => item(visit, text))}</ul>`;

/** @param beside texts below the message @returns false for a message that the desk omits */
function item(visit: Visit, text: Text, beside: readonly string[] = []): Html | false {
  const shown = atDesk(text);
  const names = beside.length > 0 && html`<br><small>${beside.join(' · ')}</small>`;
  return shown !== undefined && html`<li>${sentence(visit, shown)}${names}</li>`;
}

function part(visit: Visit, run: CommandRun, name: NewsPart, heading: string, look = ''): Html | false {
  const items = run.messagesOf(name).flatMap(({ text, lines }) => {
    const names = lines.flatMap((line) => {
      const person = run.names[line];
      return person === undefined ? [] : visit.say('line {line}: {name}', { line, name: person });
    });
    return item(visit, text, names) || [];
  });
  return items.length > 0 && html`<section class="${look}"><h2>${heading}</h2><ul>${items}</ul></section>`;
}

function changes(visit: Visit, run: CommandRun): Html | false {
  const listed = run.changes.map((each) => {
    const write = (value: StagedValue) => writeStored(visit, each.column, value) ?? visit.say('(empty)');
    return html`<li>${sentence(visit, describeColumnChanges(each, nameOf(each.column), write))}</li>`;
  });
  return (
    listed.length > 0 && html`<section><h2>${visit.say('Planned changes')}</h2><ul>${listed}</ul></section>`
  );
}

export const counts = (visit: Visit, { rows, changes, refusedRows }: ReportNews): Html =>
  html`<div class="card narrow">${fields([
    [visit.say('Rows'), visit.write.number(rows)],
    ...countFields(visit, changes, refusedRows),
  ])}</div>`;

export const countFields = (
  { say, write: { number } }: Visit,
  { created, changed, unchanged, removed, kept }: ImportChanges,
  refusedRows: number,
): (readonly [label: string, count: string | false])[] => [
  [say('New'), number(created)],
  [say('Changed'), number(changed)],
  [say('Unchanged'), number(unchanged)],
  [say('Removed'), removed > 0 && number(removed)],
  [say('Values kept'), kept > 0 && number(kept)],
  [say('Refused'), refusedRows > 0 && number(refusedRows)],
];

function firstRows(visit: Visit, rows: readonly FirstRow[]): Html {
  const label = visit.say('The first rows, as they are understood');
  const columns = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
  return html`<section><h2>${label}</h2>${table(
    label,
    [visit.say('Line'), ...columns.map((column) => visit.translate(nameOf(column)))].map((heading) => ({
      heading,
    })),
    rows.map(({ line, values }) => [
      line,
      ...columns.map((column) => writeStored(visit, column, values[column])),
    ]),
  )}</section>`;
}

export function details(visit: Visit, run: CommandRun, remedies: Html | false = false): Html {
  const notes = run.textsOf('note');
  return html`${part(visit, run, 'failed', visit.say('Failed'), 'refused')}
${part(visit, run, 'fault', visit.say('Faults'), 'refused')}
${remedies}
${part(visit, run, 'warning', visit.say('Warnings'), 'attention')}
${part(visit, run, 'ignored', visit.say('Columns without a place in the registry'), 'attention')}
${part(visit, run, 'missing', visit.say('Rows missing from the newer version'))}
${part(visit, run, 'kept', visit.say('Preserved values'))}
${run.firstRows.length > 0 && firstRows(visit, run.firstRows)}
${changes(visit, run)}
${
  notes.length > 0 &&
  html`<details open><summary>${visit.say('How the file was read')}</summary>
${sentences(visit, notes)}</details>`
}`;
}

/** @returns false if there is no rejects file, for example after a fault of the header */
export const rejectsLink = (visit: Visit, file: DeskFile): Html | false =>
  existsSync(deskFilesOf(visit).rejectsOf(file.id)) &&
  html`<p><a href="${pathOf(file)}/rejects">${visit.say(
    'Download the refused rows with the reasons. Correct them, and import that file here.',
  )}</a></p>`;

export const again = (visit: Visit, file: DeskFile): Html =>
  form(visit, {
    path: pathOf(file),
    action: 'again',
    button: visit.say('Check the file again'),
  });

export function nextSteps(visit: Visit, file: DeskFile, check: CommandRun): Html | false {
  const { report, isAsking } = check;
  if (report === undefined) return false;
  const path = pathOf(file);
  const hidden = { check: String(check.id) };
  const { outcome, refusedRows, rows, isFileFaulty } = report;
  const isStopped = outcome === 'stopped';
  const canImport = isStopped || outcome === 'accepted';
  const hasGoodRows = outcome === 'refused' && !isFileFaulty && refusedRows < rows;
  return html`${refusedRows > 0 && rejectsLink(visit, file)}
${canImport && !isAsking && again(visit, file)}
${
  canImport &&
  isAsking &&
  form(visit, {
    path,
    action: 'import',
    hidden,
    button: visit.say('Import it'),
    body:
      isStopped &&
      html`<label class="tick"><input type="checkbox" name="agreed" value="yes" required>
${visit.say('I have read the warnings: it is the right file.')}</label>`,
  })
}
${
  hasGoodRows &&
  file.choices?.replaces === undefined &&
  form(visit, {
    path,
    action: 'good',
    hidden,
    button: visit.say('Preview only the rows without faults'),
  })
}`;
}
