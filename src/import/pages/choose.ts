/** The form that shows the proposal for a file, with lists to choose something else. */

import { form, input, select } from '../../desk/parts.ts';
import type { Form, Visit } from '../../desk/screen.ts';
import { openJournal } from '../../journal/journal.ts';
import type { Operation } from '../../journal/operations.ts';
import { openRegistry } from '../../open-registry.ts';
import { FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import { nameOf } from '../../registry/pages/stored-values.ts';
import { type Html, html } from '../../values/html.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { say } from '../../values/message.ts';
import type { MapProposal } from '../reading/propose-map.ts';
import { ALTERNATIVES, IMPORT_COLUMNS } from '../table/columns.ts';
import type { DeskFile, ImportChoices } from './desk-files.ts';
import { shorten } from './findings.ts';

// The map document that results from the choices on the page

/** Limit of unknown headings in the form: nobody chooses among more columns, and the rest is ignored. */
const MOST_UNKNOWN = 60;

/** Form of the map document that `chosenMap` writes. */
interface ChosenMap {
  readonly columns?: { readonly [heading: string]: string | null };
  readonly constants?: { readonly [column: string]: string };
  readonly values?: { readonly [column: string]: { readonly [word: string]: string } };
  readonly dates?: string;
  readonly decimal?: string;
}

export const FIELD = {
  heading: (place: number) => `heading-${place}`,
  constant: (column: string) => `constant-${column}`,
  word: (column: string, place: number) => `word-${column}-${place}`,
} as const;

/** Places of the headings in the form: the recognised ones, and the first of the others. */
function askedHeadings({ headings }: MapProposal): readonly number[] {
  let unknown = 0;
  return headings.flatMap(({ isNameable, column }, place) => {
    if (!isNameable) return [];
    return column !== null || ++unknown <= MOST_UNKNOWN ? place : [];
  });
}

/** Columns without a heading that need a value for every row, or are offered first. */
function askedConstants({ document, headings }: MapProposal): readonly string[] {
  const { kind, constants = {} } = document;
  const given = new Set(headings.map(({ column }) => column));
  const also = IMPORT_COLUMNS[kind].map(({ name }) => name).filter((name) => name === 'paid_until');
  return [...Object.keys(constants), ...also.filter((name) => !given.has(name))];
}

/** Columns that identify a person or a row, so that no two rows share a value. */
const OF_ONE_ROW: readonly string[] = ['identity_card', 'full_name', 'first_name', 'last_name', 'mobile'];

/** True if all rows of a file may have the same value in a column. */
function mayBeAlike(kind: ImportKind, { name, role }: FileColumn): boolean {
  if (OF_ONE_ROW.includes(name) || role === 'key' || role === 'compared') return false;
  if (kind === 'cooperatives') return name !== 'name';
  return kind !== 'members' || !['member_code', 'date_of_birth'].includes(name);
}

/** Further columns that the file lacks, and that may have one value in all its rows. */
function offeredConstants(proposal: MapProposal): readonly FileColumn[] {
  const { document, headings } = proposal;
  const asked = askedConstants(proposal);
  const given = new Set([...headings.map(({ column }) => column), ...asked]);
  return FILE_COLUMNS[document.kind].filter(
    (column) => !given.has(column.name) && mayBeAlike(document.kind, column),
  );
}

/** Columns that were chosen for several headings. */
export function chosenTwice(proposal: MapProposal, form: Form): readonly string[] {
  const chosen = askedHeadings(proposal).flatMap((place) => form.get(FIELD.heading(place)) || []);
  return [...new Set(chosen.filter((column, i) => chosen.indexOf(column) !== i))];
}

/** Values of the form as it was last sent, by field. */
export type Given = (field: string) => string | undefined;

/** Restores the fields of the form from the map of `chosenMap`. */
function givenFields(proposal: MapProposal, given: ImportChoices | undefined): Given {
  if (given === undefined) return () => undefined;
  const { columns = {}, constants = {}, values = {}, dates, decimal } = JSON.parse(given.map) as ChosenMap;
  const fields = new Map<string, string | undefined>([
    ...proposal.headings.map(({ text }, place): [string, string | undefined] => [
      FIELD.heading(place),
      Object.hasOwn(columns, text) ? (columns[text] ?? '') : undefined,
    ]),
    ...Object.entries(constants).map(([column, value]): [string, string] => [FIELD.constant(column), value]),
    ...proposal.unknownWords.flatMap(({ column, words }) =>
      words.map((word, place): [string, string | undefined] => [
        FIELD.word(column, place),
        values[column]?.[word],
      ]),
    ),
    ['dates', dates],
    ['decimal', decimal],
    ['replaces', given.replaces?.toString()],
  ]);
  return (field) => fields.get(field);
}

/** @returns the map as a JSON text, without what was left open */
export function chosenMap(proposal: MapProposal, form: Form): string {
  const { document, headings, unknownWords } = proposal;
  const asked = new Set(askedHeadings(proposal));
  const columns: [string, string | null][] = headings.flatMap(({ text, column, isNameable }, place) => {
    if (!isNameable) return [];
    return [[text, asked.has(place) ? form.get(FIELD.heading(place)) || null : column]];
  });
  const taken = new Set(columns.map(([, column]) => column));
  const offered = offeredConstants(proposal).map(({ name }) => name);
  const constants = [...askedConstants(proposal), ...offered].flatMap((column) => {
    const given = form.get(FIELD.constant(column));
    return given === '' || taken.has(column) ? [] : [[column, given] as const];
  });
  const values = unknownWords.flatMap(({ column, words }) => {
    const chosen = words.flatMap((word, place) => {
      const value = form.get(FIELD.word(column, place));
      return value === '' ? [] : [[word, value] as const];
    });
    return chosen.length === 0 ? [] : [[column, Object.fromEntries(chosen)] as const];
  });
  const { dates, decimal } = document;
  return JSON.stringify({
    ...document,
    columns: Object.fromEntries(columns),
    constants: Object.fromEntries(constants),
    values: Object.fromEntries(values),
    dates: dates === null ? form.get('dates') || undefined : dates,
    decimal: decimal === null ? form.get('decimal') || undefined : decimal,
  });
}

// Values of every row of a file, offered for the columns without a heading

function constantsForm(visit: Visit, proposal: MapProposal, given: Given): Html | false {
  const offered = offeredConstants(proposal);
  const isNeeded = offered.some(({ name, isRequired }) => isRequired || proposal.missing.includes(name));
  const isGiven = offered.some(({ name }) => (given(FIELD.constant(name)) ?? '') !== '');
  return (
    offered.length > 0 &&
    html`<details${(isNeeded || isGiven) && html` open`}>
<summary>${visit.say('The same value in every row')}</summary>
<p>${visit.say('For what the file has no column of. Leave empty what it does not say.')}</p>
<div class="choices">${offered.map((column) =>
      constant(visit, column, given(FIELD.constant(column.name)) ?? ''),
    )}</div></details>`
  );
}

function constant(visit: Visit, { name, label: called, field, isRequired }: FileColumn, value: string): Html {
  const label = `${visit.translate(called)}${isRequired ? ' *' : ''}`;
  const base = { name: FIELD.constant(name), label, value, isOptional: true } as const;
  if (field.kind === 'choice')
    return select(
      base.name,
      label,
      [['', '—'], ...field.choices.map((each) => [each, visit.translate(nameOf(each))] as const)],
      { chosen: value },
    );
  if (field.kind === 'past_date' || field.kind.endsWith('instant')) return input({ ...base, type: 'date' });
  return input(field.kind === 'text' ? { ...base, maxLength: field.maxLength } : base);
}

type Choice = readonly [value: string, shown: string];

/**
 * Limit of the cooperatives and earlier imports to choose from; beyond it, the code of a cooperative is
 * typed.
 */
const MOST_CHOICES = 500;

/** @param faults reasons why the previous choices are not possible */
export async function choicesForm(
  visit: Visit,
  file: DeskFile,
  proposal: MapProposal,
  faults: readonly string[],
): Promise<Html> {
  const { kind } = proposal.document;
  const given = givenFields(proposal, file.given);
  const decisions = await open(visit, file.name, proposal, given);
  const { missing, headings } = proposal;
  const asked = askedHeadings(proposal);
  const rest = headings.flatMap(({ text }, place) =>
    text === '' || asked.includes(place) ? [] : `“${hideIdentityCards(text, visit.say('(hidden)'))}”`,
  );
  const body = html`${
    decisions.length > 0 &&
    html`<section class="attention"><h2>${visit.say('To be decided')}</h2>
<div class="choices">${decisions}</div></section>`
  }
<h2>${visit.say('The columns of the file')}</h2>
<div class="choices">${asked.map((place) => heading(visit, proposal, place, given))}</div>
${
  rest.length > 0 &&
  html`<p>${shorten(
    visit.say('{n|# more column is|# more columns are} ignored: {columns}', {
      n: rest.length,
      columns: rest.join(', '),
    }),
  )}</p>`
}
${constantsForm(visit, proposal, given)}
<h2>${visit.say('Another version of a file?')}</h2>
<div class="narrow">${earlier(visit, kind, given('replaces'))}</div>`;
  const refused = html`<ul class="refused" role="alert">${faults.map((each) => html`<li>${each}</li>`)}</ul>`;
  return html`${faults.length > 0 && refused}
${
  missing.length > 0 &&
  html`<p class="attention">${visit.say(
    'No column is read as: {columns}. Choose it beside the column that has it, ' +
      'or give one value for all rows.',
    { columns: missing.map((each) => columnsIn(visit, each)).join(', ') },
  )}</p>`
}
${form(visit, { path: `/import/${file.id}`, action: 'check', body, button: visit.say('Check the file') })}`;
}

/** Labels of the columns in a text such as `member_code (or identity_card)`. */
const columnsIn = (visit: Visit, missing: string): string => {
  const alternatives = /^(\w+) \(or (.+)\)$/.exec(missing);
  if (alternatives === null) return visit.translate(nameOf(missing));
  const [, column = '', others = ''] = alternatives;
  return visit.say('{column} (or {others})', {
    column: nameOf(column),
    others: others.split(' and ').map(nameOf),
  });
};

function heading(
  visit: Visit,
  { document, headings, examples }: MapProposal,
  place: number,
  given: Given,
): Html {
  const { text = '', column = null, by } = headings[place] ?? {};
  const { kind } = document;
  const isGuessed = by === 'values' || by === 'spelling';
  const values = hideIdentityCards((examples[place] ?? []).join(' · '), visit.say('(hidden)'));
  const choices: Choice[] = IMPORT_COLUMNS[kind].map(({ name, isRequired }) => [
    name,
    `${visit.translate(nameOf(name))}${isRequired || ALTERNATIVES[kind]?.column === name ? ' *' : ''}`,
  ]);
  return select(FIELD.heading(place), text, [['', visit.say('(ignored)')], ...choices], {
    chosen: given(FIELD.heading(place)) ?? column ?? '',
    hint: html`${isGuessed && html`<b>${visit.say('Guessed: check it.')}</b> `}${values}`,
  });
}

/** Fields for the questions that the file leaves open. */
async function open(visit: Visit, fileName: string, proposal: MapProposal, given: Given): Promise<Html[]> {
  const { document, unknownWords } = proposal;
  const choose = visit.say('Choose…');
  const choicesOf = (column: string): Choice[] =>
    (IMPORT_COLUMNS[document.kind].find(({ name }) => name === column)?.choices ?? []).map((each) => [
      each,
      visit.translate(nameOf(each)),
    ]);
  const constants: Html[] = [];
  for (const column of askedConstants(proposal)) {
    const name = FIELD.constant(column);
    if (column === 'cooperative_code')
      constants.push(await cooperative(visit, name, [fileName, ...proposal.examples.flat()], given(name)));
    else if (column === 'paid_until') {
      const label = visit.say('Until when does the file count what was paid back?');
      const hint = visit.say('Payments after this day are imported by themselves. May be empty.');
      const value = given(name) ?? '';
      constants.push(input({ name, label, hint, value, type: 'date', isOptional: true }));
    } else
      constants.push(
        select(
          name,
          `${visit.translate(nameOf(column))}, ${visit.say('of every row')}`,
          [['', choose], ...choicesOf(column)],
          { isRequired: true, chosen: given(name) },
        ),
      );
  }
  const words = unknownWords.flatMap(({ column, words: all }) =>
    all.map((word, place) =>
      select(
        FIELD.word(column, place),
        visit.say('{column}: what does “{word}” mean?', { column: visit.translate(nameOf(column)), word }),
        [['', choose], ...choicesOf(column)],
        { chosen: given(FIELD.word(column, place)) },
      ),
    ),
  );
  const orders: Choice[] = [
    ['dmy', visit.say('day, month, year: 1/2 is the first of February')],
    ['mdy', visit.say('month, day, year: 1/2 is the second of January')],
  ];
  const marks: Choice[] = [
    [',', visit.say('a comma: 1,500 is one and a half')],
    ['.', visit.say('a point: 1.500 is one and a half')],
  ];
  return [
    ...constants,
    ...words,
    ...(document.dates === null
      ? [
          select('dates', visit.say('How are dates written?'), [['', choose], ...orders], {
            isRequired: true,
            chosen: given('dates'),
          }),
        ]
      : []),
    ...(document.decimal === null
      ? [
          select('decimal', visit.say('What stands before decimals?'), [['', choose], ...marks], {
            isRequired: true,
            chosen: given('decimal'),
          }),
        ]
      : []),
  ];
}

/** @param texts of the file: a single code that is one of their words is probably meant */
async function cooperative(
  visit: Visit,
  name: string,
  texts: readonly string[],
  given: string | undefined,
): Promise<Html> {
  const registry = visit.use((storage) => openRegistry(storage));
  const { rows, count } = await registry.cooperatives.list({}, { page: 1, pageSize: MOST_CHOICES });
  const label = visit.say('The cooperative of every row');
  if (count > rows.length) return input({ name, label, maxLength: 32, value: given ?? '' });
  const words = texts.map((text) => `-${text.toUpperCase().replace(/[^\p{L}\p{N}]+/gu, '-')}-`).join();
  const named = rows.filter(({ code }) => words.includes(`-${code}-`));
  const guessed = named.length === 1 ? named[0]?.code : undefined;
  const chosen = given ?? guessed;
  return select(
    name,
    label,
    [
      ['', visit.say('Choose…')],
      ...rows.map(({ code, name: called }): Choice => [code, `${called} (${code})`]),
    ],
    {
      isRequired: true,
      chosen,
      hint: chosen !== undefined && chosen === guessed && visit.say('Guessed: check it.'),
    },
  );
}

function earlier(visit: Visit, kind: ImportKind, chosen: string | undefined): Html {
  const log = visit.use((storage) => openJournal(storage));
  const isEarlier = (each: Operation) =>
    each.kind === kind && each.undoneAt === null && each.replacedBy === null;
  const found = log.list().filter(isEarlier).reverse().slice(0, MOST_CHOICES);
  return select(
    'replaces',
    visit.say('The file is the newer version of'),
    [
      ['', visit.translate(say('none: its rows are new, or change what is there'))],
      ...found.map(
        ({ id, fileName, importedAt }): Choice => [
          String(id),
          visit.say('import {id}: {file}, {day}', { id, file: fileName, day: visit.write.day(importedAt) }),
        ],
      ),
    ],
    {
      chosen,
      hint: visit.say('What the earlier version had and this one has not is removed or listed.'),
    },
  );
}
