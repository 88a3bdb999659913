/** `/import/…`: one file, from the proposed map to the dry run and the import. */
import { createReadStream, existsSync } from 'node:fs';
import { failure, form, input, select } from '../../desk/parts.ts';
import type { Action, Page, Screen, Visit } from '../../desk/screen.ts';
import { IMPORT_KINDS, type ImportKind } from '../../registry/file-columns.ts';
import { nameOf } from '../../registry/pages/stored-values.ts';
import { type Html, html } from '../../values/html.ts';
import { say } from '../../values/message.ts';
import { cellContext } from '../reading/cell-context.ts';
import { type MapFault, parseMap } from '../reading/parse-map.ts';
import { choicesForm, chosenMap, chosenTwice } from './choose.ts';
import { type CommandRun, runAs } from './command-run.ts';
import { type DeskFile, deskFilesOf } from './desk-files.ts';
import {
  again,
  atDesk,
  counts,
  details,
  fileOf,
  kindOf,
  lastRunOf,
  nextSteps,
  pathOf,
  rejectsLink,
  showingAll,
  stateOf,
} from './findings.ts';

// The kind of a file, and the sheet of a workbook

/** Form for the kind and the sheet, which may have been guessed wrongly. */
const kindForm = (visit: Visit, file: DeskFile, kind: ImportKind | undefined): Html =>
  form(visit, {
    path: `/import/${file.id}`,
    action: 'kind',
    look: 'plain',
    button: visit.say('Read it as this'),
    body: html`${select(
      'kind',
      visit.say('What are the rows of this file?'),
      IMPORT_KINDS.map((each) => [each, visit.translate(nameOf(each))]),
      { chosen: kind },
    )}${sheetChoice(visit, file)}`,
  });

/** Field for the sheet: typed if the sheets are not known, as in a workbook that cannot be read. */
function sheetChoice(visit: Visit, { name, proposing, sheets: earlier }: DeskFile): Html | false {
  const label = visit.say('Which sheet of the workbook?');
  const { sheet, sheets = proposing.sheets ?? earlier } = proposing.proposal ?? {};
  if (sheets === undefined) return /\.xlsx$/i.test(name) && input({ name: 'sheet', label, isOptional: true });
  return (
    sheets.length > 1 &&
    select(
      'sheet',
      label,
      sheets.map((each) => [each, each]),
      { chosen: sheet },
    )
  );
}

/** Links beside a page of the file: back to the choices, and its removal. */
const aside = (visit: Visit, file: DeskFile, canChoose: boolean): Html =>
  html`<div class="row">${
    canChoose && html`<a href="${pathOf(file)}?choose=yes">${visit.say('Read it another way')}</a> `
  }${form(visit, {
    path: pathOf(file),
    action: 'remove',
    body: '',
    look: 'plain',
    button: visit.say('Remove the file from this list'),
  })}<a href="/import">${visit.say('All files and imports')}</a></div>`;

function page(visit: Visit, file: DeskFile, body: Html, more: Partial<Page> = {}): Page {
  const kind = kindOf(file);
  return {
    body: html`<h1>${file.name}</h1>
<p><small>${kind && html`${visit.translate(nameOf(kind))} · `}${stateOf(visit, file)}</small></p>
${body}`,
    // The owner of the file knows its contents; the dry run records the access to stored data.
    shows: 'nobody',
    ...more,
  };
}

/** Page while a command is at work: it refreshes itself, and may be closed. */
function waiting(visit: Visit, file: DeskFile, run: CommandRun): Page {
  const share = run.progress === undefined ? undefined : Math.round(run.progress * 100);
  const isImport = run === file.import;
  const isRead = share === 100;
  const body = html`<p role="status">${
    isImport
      ? visit.say('The rows are being written…')
      : isRead
        ? visit.say('The file is read. Its rows are compared with the registry…')
        : visit.say('The file is being read…')
  }</p>
<progress max="100" aria-label="${visit.say('Progress')}"${
    share !== undefined && !isRead && html` value="${share}"`
  }></progress>
<p><small>${visit.say('This page may be closed: the work goes on, and is found under “Import”.')}</small></p>
${form(visit, {
  path: pathOf(file),
  action: 'stop',
  body: '',
  look: 'plain',
  button: isImport ? visit.say('Stop: nothing of the file is imported') : visit.say('Stop'),
})}`;
  return page(visit, file, body, { refreshSeconds: 1 });
}

/** The findings of a command that could not read the file, or the failure of the command itself. */
const unread = (visit: Visit, run: CommandRun): Html =>
  run.textsOf('failed').length > 0 ? details(visit, run) : failure(visit, run);

async function choices(visit: Visit, file: DeskFile, faults: readonly string[] = []): Promise<Page> {
  const { proposal } = file.proposing;
  const body = html`<div class="narrow">${kindForm(visit, file, kindOf(file))}</div>
${proposal === undefined ? unread(visit, file.proposing) : await choicesForm(visit, file, proposal, faults)}
${aside(visit, file, false)}`;
  return page(visit, file, body, faults.length > 0 ? { status: 422 } : {});
}

function checked(visit: Visit, file: DeskFile, check: CommandRun): Page {
  const { report } = check;
  if (report === undefined)
    return page(visit, file, html`${failure(visit, check)}${aside(visit, file, true)}`);
  const same = report.sameAsImport;
  const body = html`${
    same !== undefined &&
    html`<p class="attention">${visit.say('The same file was imported before, as import {id}.', { id: same })}
<a href="/imports/${same}">${visit.say('Look at it')}</a></p>`
  }
${report.outcome !== 'failed' && counts(visit, report)}
${details(visit, check)}
${nextSteps(visit, file, check)}${aside(visit, file, true)}`;
  return page(visit, file, body);
}

function imported(visit: Visit, file: DeskFile, run: CommandRun): Page {
  const { report } = run;
  if (report?.outcome !== 'imported') {
    const why = report === undefined ? failure(visit, run) : details(visit, run);
    const nothing = visit.say('Nothing of this file was imported.');
    return page(
      visit,
      file,
      html`<p><b>${nothing}</b></p>${why}${again(visit, file)}${aside(visit, file, true)}`,
    );
  }
  const isUndone = deskFilesOf(visit).isUndone(file);
  const [what, more] = isUndone
    ? [visit.say('The file was imported, and the import undone.'), visit.say('What it changed')]
    : [visit.say('The file is imported.'), visit.say('What it changed, and how to undo it')];
  const body = html`<p class="told" role="status">${what}
<a href="/imports/${report.importId}">${more}</a></p>
${isUndone && again(visit, file)}${counts(visit, report)}
${report.refusedRows > 0 && rejectsLink(visit, file)}${details(visit, run)}
${aside(visit, file, false)}`;
  return page(visit, file, body);
}

/** A fault of the choices, with the label of the column if it has one. */
function describeFault(visit: Visit, { path, message }: MapFault): string {
  const [, place = path] = /^constants\.(\w+)$/.exec(path) ?? [];
  const where = place === path ? path : visit.translate(nameOf(place));
  return visit.say('{label}: {value}', {
    label: where,
    value: visit.translate(atDesk(message) ?? message),
  });
}

/** An action on a file that needs no command to be at work. */
const settled =
  (act: (visit: Visit, file: DeskFile, form: Parameters<Action>[1]) => ReturnType<Action>): Action =>
  (visit, given) => {
    const file = fileOf(visit);
    if (file === undefined) return undefined;
    if (lastRunOf(file).isAtWork || file.import?.report?.outcome === 'imported')
      return { goTo: pathOf(file), told: say('Something has changed meanwhile. Look at it again.') };
    return act(visit, file, given);
  };

/** An action on the dry run that the user has looked at. */
const agreed = (act: (visit: Visit, file: DeskFile, form: Parameters<Action>[1]) => void): Action =>
  settled((visit, file, given) => {
    const { check } = file;
    if (check === undefined || String(check.id) !== given.get('check'))
      return { goTo: pathOf(file), told: say('Something has changed meanwhile. Look at it again.') };
    act(visit, file, given);
    return { goTo: pathOf(file) };
  });

export const IMPORT_FILE: Screen = {
  path: '/import/:file',
  title: say('Import a file'),
  personal: 'some',
  async read(visit) {
    const file = fileOf(visit);
    if (file === undefined) return undefined;
    const run = lastRunOf(file);
    if (run.isAtWork) return waiting(visit, file, run);
    const wantsChoices = visit.query.get('choose') !== null && file.import?.report?.outcome !== 'imported';
    if (file.check === undefined || wantsChoices) return choices(visit, file);
    const shown =
      file.import === undefined ? checked(visit, file, file.check) : imported(visit, file, file.import);
    // The command has recorded the access of the user who started it only.
    return run.user === visit.session.user ? shown : { ...shown, shows: await showingAll(visit) };
  },
  actions: {
    kind: settled((visit, file, given) => {
      const kind = IMPORT_KINDS.find((each) => each === given.get('kind'));
      if (kind === undefined) return undefined;
      deskFilesOf(visit).readAs(file, kind, given.get('sheet'), runAs(visit));
      return { goTo: pathOf(file) };
    }),
    check: settled((visit, file, given) => {
      const { proposal } = file.proposing;
      if (proposal === undefined) return { goTo: pathOf(file) };
      const { kind } = proposal.document;
      const map = chosenMap(proposal, given);
      const replaces = Number(given.get('replaces')) || undefined;
      const chosen = { map, replaces, skipInvalid: false };
      deskFilesOf(visit).give(file, chosen);
      const twice = chosenTwice(proposal, given).map((column) =>
        visit.say('Two columns are read as {column}: choose something else for one of them.', {
          column: nameOf(column),
        }),
      );
      if (twice.length > 0) return choices(visit, file, twice);
      const read = parseMap(map, { kind, cells: cellContext(visit.desk.config.zone, visit.now) });
      if (!('kind' in read))
        return choices(
          visit,
          file,
          read.map((fault) => describeFault(visit, fault)),
        );
      deskFilesOf(visit).startCheck(file, kind, chosen, runAs(visit));
      return { goTo: pathOf(file) };
    }),
    good: agreed((visit, file) => {
      const kind = kindOf(file);
      if (kind === undefined || file.choices === undefined) return;
      deskFilesOf(visit).startCheck(file, kind, { ...file.choices, skipInvalid: true }, runAs(visit));
    }),
    again: settled((visit, file) => {
      deskFilesOf(visit).checkAgain(file, runAs(visit));
      return { goTo: pathOf(file) };
    }),
    import: agreed((visit, file, given) => {
      // A browser does not send the form without the tick.
      if (file.check?.report?.outcome === 'accepted' || given.get('agreed') !== '')
        deskFilesOf(visit).startImport(file, runAs(visit));
    }),
    stop: (visit) => {
      const file = fileOf(visit);
      if (file === undefined) return undefined;
      lastRunOf(file).stop();
      return { goTo: pathOf(file) };
    },
    remove: async (visit) => {
      const file = fileOf(visit);
      if (file !== undefined) await deskFilesOf(visit).remove(file);
      return { goTo: '/import' };
    },
  },
};

export const REJECTS: Screen = {
  path: '/import/:file/rejects',
  title: say('Refused rows'),
  personal: 'some',
  read(visit) {
    const file = fileOf(visit);
    const path = file && deskFilesOf(visit).rejectsOf(file.id);
    if (path === undefined || !existsSync(path)) return undefined;
    const parts: AsyncIterable<Uint8Array> = createReadStream(path);
    // These are rows of the file that the user gave.
    return { fileName: `rejects-${file?.id}.csv`, type: 'text/csv; charset=utf-8', parts, shows: 'nobody' };
  },
};
