/** What is proposed for a file, and the lists to choose something else from. */

import { hideIdentityCards } from '../../../domain/membership/identity-card.ts';
import { say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import { ALTERNATIVES, IMPORT_COLUMNS } from '../../../import/columns/columns.ts';
import type { MapProposal } from '../../../import/proposal/propose-map.ts';
import type { ImportKind } from '../../../store/contract/import/import-session.ts';
import type { RecordedImport } from '../../../store/contract/journal/operations.ts';
import type { DeskFile } from '../../importing/desk-files.ts';
import { nameOf } from '../../page/names.ts';
import { form, input, select } from '../../page/parts.ts';
import type { Visit } from '../../visit/screen.ts';
import { constantsForm } from './constants.ts';
import { shorten } from './findings.ts';
import { askedConstants, askedHeadings, FIELD, type Given, givenFields } from './map-choices.ts';

type Choice = readonly [value: string, shown: string];

/** Cooperatives and earlier imports in a list to choose from; what is longer is typed. */
const MOST_CHOICES = 500;

/** @param fault why what was chosen before cannot be meant */
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

/** Of `member_code (or identity_card)`, the names of the columns. */
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
  { document, headings, examples, headerLine: _ }: MapProposal,
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

/** What the file does not settle. */
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

/** @param texts of the file: one code that stands in them as a word is probably meant */
async function cooperative(
  visit: Visit,
  name: string,
  texts: readonly string[],
  given: string | undefined,
): Promise<Html> {
  const registry = visit.use((storage) => storage.openRegistry());
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
  const log = visit.use((storage) => storage.openJournal());
  const isEarlier = (each: RecordedImport) =>
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
