/** What the dry run of a file has found, in the sentences of the command. */
import { existsSync } from 'node:fs';
import { say, type Text } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { FirstRow, NewsPart, ReportNews } from '../../../import/run/import-news.ts';
import type { StagedValue } from '../../../store/contract/import/import-session.ts';
import type { CommandRun } from '../../importing/command-run.ts';
import type { DeskFile } from '../../importing/desk-files.ts';
import { nameOf } from '../../page/names.ts';
import { fields, form, table } from '../../page/parts.ts';
import { writeStored } from '../../page/write-stored.ts';
import type { Visit } from '../../visit/screen.ts';
import { atDesk } from './at-desk.ts';

/** A sentence that lists ten thousand columns is not read to its end. */
const MOST_CHARACTERS = 1_500;

export const shorten = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

const sentence = (visit: Visit, text: Text): string => shorten(visit.translate(text).trim());

export const sentences = (visit: Visit, texts: readonly Text[]): Html =>
  html`<ul>${texts.flatMap((text) => {
    const said = atDesk(text);
    return said === undefined ? [] : html`<li>${sentence(visit, said)}</li>`;
  })}</ul>`;

/** Who is on the lines, as the file calls them. */
function namesBeside(visit: Visit, { names }: CommandRun, lines: readonly number[]): Html | false {
  const named = lines.flatMap((line) => {
    const name = names[line];
    return name === undefined ? [] : visit.say('line {line}: {name}', { line, name });
  });
  return named.length > 0 && html`<br><small>${named.join(' · ')}</small>`;
}

/** @param look of the section; nothing is shown of a part without sentences */
function part(visit: Visit, run: CommandRun, name: NewsPart, heading: string, look = ''): Html | false {
  const told = run.toldOf(name).flatMap(({ text, lines }) => {
    const said = atDesk(text);
    return said === undefined ? [] : html`<li>${sentence(visit, said)}${namesBeside(visit, run, lines)}</li>`;
  });
  return told.length > 0 && html`<section class="${look}"><h2>${heading}</h2><ul>${told}</ul></section>`;
}

/** Stored values that the file would change, as the page writes them. */
function changes(visit: Visit, run: CommandRun): Html | false {
  const show = (column: string, value: StagedValue) =>
    writeStored(visit, column, value) ?? visit.say('(empty)');
  const listed = run.changes.map(({ column, count, examples }) => {
    const shown = examples.map((each) => `${each.row} ${show(column, each.old)} → ${show(column, each.new)}`);
    const fields = { column: nameOf(column), count };
    const text =
      shown.length === 0
        ? say('{column} changes in {count|# row|# rows}', fields)
        : say('{column} changes in {count|# row|# rows}: {examples}', {
            ...fields,
            examples: (count > shown.length ? [...shown, '…'] : shown).join('; '),
          });
    return html`<li>${sentence(visit, text)}</li>`;
  });
  return (
    listed.length > 0 && html`<section><h2>${visit.say('What would change')}</h2><ul>${listed}</ul></section>`
  );
}

/** How many rows would be, or were, what. */
export function counts(visit: Visit, { rows, changes, refusedRows }: ReportNews): Html {
  const { number } = visit.write;
  const { created, changed, unchanged, removed, kept } = changes;
  const shown = [
    [visit.say('Rows'), rows],
    [visit.say('New'), created],
    [visit.say('Changed'), changed],
    [visit.say('Unchanged'), unchanged],
    [visit.say('Removed'), removed],
    [visit.say('Values kept'), kept],
    [visit.say('Refused'), refusedRows],
  ] as const;
  return html`<div class="card narrow">${fields(
    shown.map(([heading, count], i) => [heading, (i < 4 || count > 0) && number(count)]),
  )}</div>`;
}

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

export function details(visit: Visit, run: CommandRun): Html {
  const notes = run.textsOf('note');
  return html`${part(visit, run, 'failed', visit.say('It could not be done'), 'refused')}
${part(visit, run, 'fault', visit.say('Faults'), 'refused')}
${part(visit, run, 'warning', visit.say('Warnings'), 'attention')}
${part(visit, run, 'ignored', visit.say('Columns that have no place in the registry'), 'attention')}
${part(visit, run, 'missing', visit.say('Rows of the earlier version that this one has not'))}
${part(visit, run, 'kept', visit.say('Values that are kept'))}
${run.firstRows.length > 0 && firstRows(visit, run.firstRows)}
${changes(visit, run)}
${
  notes.length > 0 &&
  html`<details open><summary>${visit.say('How the file was read')}</summary>
${sentences(visit, notes)}</details>`
}`;
}

/** There is no file of them where it is the columns that are wrong. */
export const rejectsLink = (visit: Visit, { id }: DeskFile): Html | false =>
  existsSync(visit.desk.files.rejectsOf(id)) &&
  html`<p><a href="/import/${id}/rejects">${visit.say(
    'Download the refused rows with the reasons: correct them, and give that file here.',
  )}</a></p>`;

/** The registry may have changed since the file was checked. */
export const again = (visit: Visit, { id }: DeskFile): Html =>
  form(visit, {
    path: `/import/${id}`,
    action: 'again',
    body: '',
    button: visit.say('Check the file again'),
  });

/** What may follow a check. */
export function nextSteps(visit: Visit, file: DeskFile, check: CommandRun): Html | false {
  const { report, isAsking } = check;
  if (report === undefined) return false;
  const path = `/import/${file.id}`;
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
${visit.say('I have looked at the warnings: it is the right file.')}</label>`,
  })
}
${
  hasGoodRows &&
  file.choices?.replaces === undefined &&
  form(visit, {
    path,
    action: 'good',
    hidden,
    body: '',
    button: visit.say('Only the good rows: show what they would change'),
  })
}`;
}
