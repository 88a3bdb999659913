/** The form with the suggested map of a file, in which users can choose something else. */

import { form, input, select } from '../../desk/parts.ts';
import type { Form, Visit } from '../../desk/screen.ts';
import { openJournal } from '../../journal/undo.ts';
import { openRegistry } from '../../open-registry.ts';
import { FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import { nameOf } from '../../registry/pages/show-stored-values.ts';
import { type Html, html } from '../../values/html.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { say } from '../../values/message.ts';
import { LAST_SECOND, untilEndOf } from '../reading/dates.ts';
import type { MapProposal } from '../reading/propose-map.ts';
import { ALTERNATIVES, IMPORT_COLUMNS } from '../table/columns.ts';
import type { DeskFile, ImportChoices } from './desk-files.ts';
import { kindOf, pathOf, shorten } from './findings.ts';
import type { CommandRun } from './previews-and-runs.ts';

/** Maximum number of unknown headings in the form. The columns of further unknown headings are ignored. */
const MOST_UNKNOWN = 60;

const FIELD = {
  heading: (place: number) => `heading-${place}`,
  constant: (column: string) => `constant-${column}`,
  word: (column: string, place: number) => `word-${column}-${place}`,
  round: (column: string) => `round-${column}`,
} as const;

/** Entry of a map for a heading: the column, with or without rounding; null to ignore the heading. */
type ColumnEntry = string | null | { readonly column: string; readonly round: true };

const columnIn = (entry: ColumnEntry): string | null =>
  entry !== null && typeof entry === 'object' ? entry.column : entry;

/** Adds the rounding of columns that the user rounds in the form. */
const roundColumns = (columns: readonly (readonly [heading: string, entry: ColumnEntry])[], form: Form) =>
  Object.fromEntries(
    columns.map(([heading, entry]): [string, ColumnEntry] => {
      const column = columnIn(entry);
      const isRounded = column !== null && form.get(FIELD.round(column)) === 'yes';
      return [heading, isRounded ? { column, round: true } : entry];
    }),
  );

function placesOnForm({ headings }: MapProposal): readonly number[] {
  let unknown = 0;
  return headings.flatMap(({ isNameable, column }, place) => {
    if (!isNameable) return [];
    return column !== null || ++unknown <= MOST_UNKNOWN ? place : [];
  });
}

/** Returns columns that the file lacks, and for which the form asks for one value for all rows. */
function neededConstants({ document, headings }: MapProposal): readonly string[] {
  const isOffered =
    IMPORT_COLUMNS[document.kind].some(({ name }) => name === 'paid_until') &&
    !headings.some(({ column }) => column === 'paid_until');
  return [...Object.keys(document.constants ?? {}), ...(isOffered ? ['paid_until'] : [])];
}

/** Columns whose value identifies a person or a row and cannot be the same in all rows. */
const OF_ONE_ROW: readonly string[] = ['identity_card', 'full_name', 'first_name', 'last_name', 'mobile'];

function mayBeAlike(kind: ImportKind, { name, role }: FileColumn): boolean {
  if (OF_ONE_ROW.includes(name) || role === 'key' || role === 'compared') return false;
  if (kind === 'cooperatives') return name !== 'name';
  return kind !== 'members' || !['member_code', 'date_of_birth'].includes(name);
}

/** Returns further columns that the file lacks and that may have one value for all rows. */
function offeredConstants(proposal: MapProposal): readonly FileColumn[] {
  const { document, headings } = proposal;
  const excluded = new Set([...headings.map(({ column }) => column), ...neededConstants(proposal)]);
  return FILE_COLUMNS[document.kind].filter(
    (column) => !excluded.has(column.name) && mayBeAlike(document.kind, column),
  );
}

/** Returns columns that the user chose for several headings. */
export function chosenTwice(proposal: MapProposal, form: Form): readonly string[] {
  const chosen = placesOnForm(proposal).flatMap((place) => form.get(FIELD.heading(place)) || []);
  return [...new Set(chosen.filter((column, i) => chosen.indexOf(column) !== i))];
}

type SubmittedValues = (field: string) => string | undefined;

/** Recovers the submitted values from the map that `chosenMap` made from them. */
function submittedValues(proposal: MapProposal, submitted: ImportChoices | undefined): SubmittedValues {
  if (submitted === undefined) return () => undefined;
  const { columns = {}, constants = {}, values = {}, dates, decimal } = JSON.parse(submitted.map);
  const fields = new Map<string, string | undefined>([
    ...proposal.headings.flatMap(({ text }, place): [string, string][] =>
      Object.hasOwn(columns, text) ? [[FIELD.heading(place), columnIn(columns[text]) ?? '']] : [],
    ),
    ...Object.values<ColumnEntry>(columns).flatMap((entry): [string, string][] =>
      entry === null || typeof entry === 'string' ? [] : [[FIELD.round(entry.column), 'yes']],
    ),
    ...Object.entries<string>(constants).map(
      ([column, value]) => [FIELD.constant(column), value.replace(LAST_SECOND, '')] as const,
    ),
    ...proposal.unknownWords.flatMap(({ column, words }) =>
      words.map((word, place) => [FIELD.word(column, place), values[column]?.[word]] as const),
    ),
    ['dates', dates],
    ['decimal', decimal],
    ['replaces', submitted.replaces?.toString()],
  ]);
  return (field) => fields.get(field);
}

/**
 * @param today `YYYY-MM-DD`
 * @returns the map as JSON, without the fields that the user left empty
 */
export function chosenMap(proposal: MapProposal, form: Form, today: string): string {
  const { document, headings, unknownWords } = proposal;
  const places = placesOnForm(proposal);
  const columns = headings.flatMap(({ text, column, isNameable }, place): [string, string | null][] => {
    if (!isNameable) return [];
    return [[text, places.includes(place) ? form.get(FIELD.heading(place)) || null : column]];
  });
  const readColumns = columns.map(([, column]) => column);
  const offered = offeredConstants(proposal).map(({ name }) => name);
  const constants = [...neededConstants(proposal), ...offered].flatMap((column) => {
    const given = form.get(FIELD.constant(column));
    const value = column === 'paid_until' ? untilEndOf(given, today) : given;
    return value === '' || readColumns.includes(column) ? [] : [[column, value] as const];
  });
  const values = unknownWords.flatMap(({ column, words }) => {
    const meanings = words.flatMap((word, place) => {
      const value = form.get(FIELD.word(column, place));
      return value === '' ? [] : [[word, value] as const];
    });
    return meanings.length === 0 ? [] : [[column, Object.fromEntries(meanings)] as const];
  });
  const { dates, decimal } = document;
  return JSON.stringify({
    ...document,
    columns: roundColumns(columns, form),
    constants: Object.fromEntries(constants),
    values: Object.fromEntries(values),
    dates: dates === null ? form.get('dates') || undefined : dates,
    decimal: decimal === null ? form.get('decimal') || undefined : decimal,
  });
}

/** @param form a form of `roundingForms` */
export function roundedMap(map: string, form: Form): string {
  const document = JSON.parse(map);
  return JSON.stringify({ ...document, columns: roundColumns(Object.entries(document.columns), form) });
}

type Choice = readonly [value: string, label: string];

/** Maximum length of a list of cooperatives or imports. With more cooperatives, the user types a code. */
const MOST_CHOICES = 500;

const labelOf = (visit: Visit, name: string): string => visit.translate(nameOf(name));

const labelled = (visit: Visit, names: readonly string[]): Choice[] =>
  names.map((name) => [name, labelOf(visit, name)]);

export async function choicesForm(
  visit: Visit,
  file: DeskFile,
  proposal: MapProposal,
  faults: readonly string[],
): Promise<Html> {
  const submitted = submittedValues(proposal, file.given);
  const questions = await openQuestions(visit, file.name, proposal, submitted);
  const { missing, headings } = proposal;
  const places = placesOnForm(proposal);
  const rest = headings.flatMap(({ text }, place) =>
    text === '' || places.includes(place) ? [] : `“${hideIdentityCards(text, visit.say('(hidden)'))}”`,
  );
  const body = html`${
    questions.length > 0 &&
    html`<section class="attention"><h2>${visit.say('Your choices')}</h2>
<div class="choices">${questions}</div></section>`
  }
<h2>${visit.say('The columns of the file')}</h2>
<div class="choices">${places.map((place) => headingField(visit, proposal, place, submitted))}</div>
${
  rest.length > 0 &&
  html`<p>${shorten(
    visit.say('{n|# more column is|# more columns are} ignored: {columns}', {
      n: rest.length,
      columns: rest.join(', '),
    }),
  )}</p>`
}
${constantFields(visit, proposal, submitted)}
${roundingTicks(visit, file, proposal.document.kind, submitted)}
${
  // Only workbooks, which have sheets, can have hidden rows.
  proposal.sheets.length > 0 &&
  html`<label class="tick"><input type="checkbox" name="skip_hidden" value="yes"${
    file.given?.skipsHidden === true && html` checked`
  }>
${visit.say('Leave out hidden rows and columns.')}</label>`
}
<h2>${visit.say('Another version of a file?')}</h2>
<div class="narrow">${replacedImportField(visit, proposal.document.kind, submitted('replaces'))}</div>`;
  return html`${
    faults.length > 0 &&
    html`<ul class="refused" role="alert">${faults.map((fault) => html`<li>${fault}</li>`)}</ul>`
  }
${
  missing.length > 0 &&
  html`<p class="attention">${visit.say(
    'No column is read as: {columns}. Choose it beside its column, or give one value for all rows.',
    { columns: missing.map((text) => columnsIn(visit, text)).join(', ') },
  )}</p>`
}
${form(visit, { path: pathOf(file), action: 'check', body, button: visit.say('Check the file') })}`;
}

const roundings = (visit: Visit, kind: ImportKind, isOffered: (column: string) => boolean) =>
  IMPORT_COLUMNS[kind].flatMap(({ name, decimal }) =>
    decimal === undefined || !isOffered(name)
      ? []
      : {
          field: FIELD.round(name),
          label: visit.say('Round the column {column} to {count} decimals', {
            column: nameOf(name),
            count: decimal.fractionDigits,
          }),
        },
  );

/** Checkboxes for columns that are rounded, or whose decimals the check has refused. */
const roundingTicks = (
  visit: Visit,
  { check }: DeskFile,
  kind: ImportKind,
  submitted: SubmittedValues,
): Html[] => {
  const isRounded = (field: string) => submitted(field) === 'yes';
  const isOffered = (column: string) =>
    isRounded(FIELD.round(column)) || check?.roundableColumns.includes(column) === true;
  return roundings(visit, kind, isOffered).map(
    ({ field, label }) =>
      html`<label class="tick"><input type="checkbox" name="${field}" value="yes"${
        isRounded(field) && html` checked`
      }>
${label}</label>`,
  );
};

/** Buttons that round a column whose decimals the check has refused, and check the file again. */
export function roundingForms(visit: Visit, file: DeskFile, check: CommandRun): Html | false {
  const kind = kindOf(file);
  const { id, roundableColumns } = check;
  return (
    kind !== undefined &&
    roundableColumns.length > 0 &&
    html`<div class="row">${roundings(visit, kind, (column) => roundableColumns.includes(column)).map(
      ({ field, label }) =>
        form(visit, {
          path: pathOf(file),
          action: 'round',
          hidden: { check: String(id), [field]: 'yes' },
          button: label,
        }),
    )}</div>`
  );
}

/** Replaces column names in a text such as `member_code (or identity_card)` with labels. */
function columnsIn(visit: Visit, missing: string): string {
  const alternatives = /^(\w+) \(or (.+)\)$/.exec(missing);
  if (alternatives === null) return labelOf(visit, missing);
  const [, column = '', others = ''] = alternatives;
  return visit.say('{column} (or {others})', {
    column: nameOf(column),
    others: others.split(' and ').map(nameOf),
  });
}

function constantFields(visit: Visit, proposal: MapProposal, submitted: SubmittedValues): Html | false {
  const offered = offeredConstants(proposal);
  const isOpen = offered.some(
    ({ name, isRequired }) =>
      isRequired || proposal.missing.includes(name) || (submitted(FIELD.constant(name)) ?? '') !== '',
  );
  return (
    offered.length > 0 &&
    html`<details${isOpen && html` open`}>
<summary>${visit.say('The same value in every row')}</summary>
<p>${visit.say('For values without a column in the file. Leave the others empty.')}</p>
<div class="choices">${offered.map((column) => constantField(visit, column, submitted))}</div></details>`
  );
}

function constantField(visit: Visit, column: FileColumn, submitted: SubmittedValues): Html {
  const { field, isRequired } = column;
  const name = FIELD.constant(column.name);
  const label = `${visit.translate(column.label)}${isRequired ? ' *' : ''}`;
  const value = submitted(name) ?? '';
  if (field.kind === 'choice')
    return select(name, label, [['', '—'], ...labelled(visit, field.choices)], { chosen: value });
  const base = { name, label, value, isOptional: true } as const;
  if (field.kind === 'past_date' || field.kind.endsWith('instant')) return input({ ...base, type: 'date' });
  return input(field.kind === 'text' ? { ...base, maxLength: field.maxLength } : base);
}

function headingField(
  visit: Visit,
  { document: { kind }, headings, examples }: MapProposal,
  place: number,
  submitted: SubmittedValues,
): Html {
  const { text = '', column = null, by } = headings[place] ?? {};
  const isGuessed = by === 'values' || by === 'spelling';
  const values = hideIdentityCards((examples[place] ?? []).join(' · '), visit.say('(hidden)'));
  const choices = IMPORT_COLUMNS[kind].map(({ name, isRequired }): Choice => {
    const isNeeded = isRequired || ALTERNATIVES[kind]?.column === name;
    return [name, `${labelOf(visit, name)}${isNeeded ? ' *' : ''}`];
  });
  return select(FIELD.heading(place), text, [['', visit.say('(ignored)')], ...choices], {
    chosen: submitted(FIELD.heading(place)) ?? column ?? '',
    hint: html`${isGuessed && html`<b>${visit.say('Guessed: check it.')}</b> `}${values}`,
  });
}

async function openQuestions(
  visit: Visit,
  fileName: string,
  proposal: MapProposal,
  submitted: SubmittedValues,
): Promise<Html[]> {
  const { document, unknownWords } = proposal;
  const choicesOf = (column: string) =>
    labelled(visit, IMPORT_COLUMNS[document.kind].find(({ name }) => name === column)?.choices ?? []);
  const question = (name: string, label: string, choices: Choice[], options: { isRequired?: true } = {}) =>
    select(name, label, [['', visit.say('Choose…')], ...choices], { ...options, chosen: submitted(name) });
  const required = { isRequired: true } as const;
  const questions: Html[] = [];
  for (const column of neededConstants(proposal)) {
    const name = FIELD.constant(column);
    if (column === 'cooperative_code') {
      const texts = [fileName, ...proposal.examples.flat()];
      questions.push(await cooperativeField(visit, name, texts, submitted(name)));
    } else if (column === 'paid_until') {
      const label = visit.say('Until which day does the file count repayments?');
      const hint = visit.say('Payments after this day are imported from their own file. May be empty.');
      const value = submitted(name) ?? '';
      questions.push(input({ name, label, hint, value, type: 'date', isOptional: true }));
    } else {
      const label = `${labelOf(visit, column)}, ${visit.say('of every row')}`;
      questions.push(question(name, label, choicesOf(column), required));
    }
  }
  for (const { column, words } of unknownWords)
    for (const [place, word] of words.entries()) {
      const label = visit.say('{column}: what does “{word}” mean?', { column: labelOf(visit, column), word });
      questions.push(question(FIELD.word(column, place), label, choicesOf(column)));
    }
  if (document.dates === null) {
    const orders: Choice[] = [
      ['dmy', visit.say('day, month, year: 1/2 is the first of February')],
      ['mdy', visit.say('month, day, year: 1/2 is the second of January')],
      ['ymd', visit.say('year, month, day: 26/2/1 is the first of February')],
    ];
    questions.push(question('dates', visit.say('How are dates written?'), orders, required));
  }
  if (document.decimal === null) {
    const marks: Choice[] = [
      [',', visit.say('a comma: 1,500 is one and a half')],
      ['.', visit.say('a point: 1.500 is one and a half')],
    ];
    questions.push(question('decimal', visit.say('Which mark is before decimals?'), marks, required));
  }
  return questions;
}

/** @param texts if exactly one cooperative's code is in these texts, that cooperative is suggested */
async function cooperativeField(
  visit: Visit,
  name: string,
  texts: readonly string[],
  submitted: string | undefined,
): Promise<Html> {
  const { cooperatives } = visit.use(openRegistry);
  const { rows, count } = await cooperatives.list({}, { page: 1, pageSize: MOST_CHOICES });
  const label = visit.say('The cooperative of every row');
  if (count > rows.length) return input({ name, label, maxLength: 32, value: submitted ?? '' });
  const words = texts.map((text) => `-${text.toUpperCase().replace(/[^\p{L}\p{N}]+/gu, '-')}-`).join();
  const candidates = rows.filter(({ code }) => words.includes(`-${code}-`));
  const guess = candidates.length === 1 ? candidates[0]?.code : undefined;
  const chosen = submitted ?? guess;
  const choices = rows.map(({ code, name: title }): Choice => [code, `${title} (${code})`]);
  const hint = chosen !== undefined && chosen === guess && visit.say('Guessed: check it.');
  const options = { isRequired: true, chosen, hint } as const;
  return select(name, label, [['', visit.say('Choose…')], ...choices], options);
}

function replacedImportField(visit: Visit, kind: ImportKind, chosen: string | undefined): Html {
  const choices = visit
    .use(openJournal)
    .list()
    .filter(
      (recorded) => recorded.kind === kind && recorded.undoneAt === null && recorded.replacedBy === null,
    )
    .reverse()
    .slice(0, MOST_CHOICES)
    .map(({ id, fileName, importedAt }): Choice => {
      const day = visit.write.day(importedAt);
      return [String(id), visit.say('import {id}: {file}, {day}', { id, file: fileName, day })];
    });
  const none = visit.translate(say('none: its rows are new, or change stored rows'));
  return select('replaces', visit.say('The file is the newer version of'), [['', none], ...choices], {
    chosen,
    hint: visit.say('Rows that are missing from the newer version are removed or listed.'),
  });
}
