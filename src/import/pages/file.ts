/** Page `/import/…`: one uploaded file, from the suggested map to the dry run and the import. */
import { createReadStream, existsSync } from 'node:fs';
import { failure, form, input, select } from '../../desk/parts.ts';
import type { Action, Form, Page, Screen, Shows, Visit } from '../../desk/screen.ts';
import { IMPORT_KINDS } from '../../registry/file-columns.ts';
import { nameOf } from '../../registry/pages/show-stored-values.ts';
import { formatDate } from '../../values/date-time.ts';
import { type Html, html } from '../../values/html.ts';
import { say } from '../../values/message.ts';
import { cellContext } from '../reading/cell-context.ts';
import { type MapFault, parseMap } from '../reading/parse-map.ts';
import { type DeskFile, deskFilesOf, type ImportChoices, isImported } from './desk-files.ts';
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
import { choicesForm, chosenMap, chosenTwice, roundedMap, roundingForms } from './map-form.ts';
import { type CommandRun, OUTDATED, runAs } from './previews-and-runs.ts';

const kindForm = (visit: Visit, file: DeskFile): Html =>
  form(visit, {
    path: pathOf(file),
    action: 'kind',
    look: 'plain',
    button: visit.say('Use this kind'),
    body: html`${select(
      'kind',
      visit.say('What are the rows of this file?'),
      IMPORT_KINDS.map((kind) => [kind, visit.translate(nameOf(kind))]),
      { chosen: kindOf(file) },
    )}${sheetChoice(visit, file)}`,
  });

/** Returns a list of the sheets, or a text field if the file could not be opened to list them. */
function sheetChoice(visit: Visit, { name, proposing, sheets: earlier }: DeskFile): Html | false {
  const label = visit.say('Which sheet of the workbook?');
  const { sheet, sheets = proposing.sheets ?? earlier } = proposing.proposal ?? {};
  if (sheets === undefined)
    return /\.(?:xlsx|ods)$/i.test(name) && input({ name: 'sheet', label, isOptional: true });
  const choices = sheets.map((name) => [name, name] as const);
  return sheets.length > 1 && select('sheet', label, choices, { chosen: sheet });
}

const aside = (visit: Visit, file: DeskFile, canChoose: boolean): Html =>
  html`<div class="row">${
    canChoose && html`<a href="${pathOf(file)}?choose=yes">${visit.say('Change how it is read')}</a> `
  }${form(visit, {
    path: pathOf(file),
    action: 'remove',
    look: 'plain',
    button: visit.say('Remove the file from this list'),
  })}<a href="/import">${visit.say('All files and imports')}</a></div>`;

function page(visit: Visit, file: DeskFile, body: Html, more: Partial<Page> = {}): Page {
  const kind = kindOf(file);
  return {
    body: html`<h1>${file.name}</h1>
<p><small>${kind && html`${visit.translate(nameOf(kind))} · `}${stateOf(visit, file)}</small></p>
${body}`,
    shows: 'nobody',
    ...more,
  };
}

/**
 * The user who started a run knows the uploaded rows, and the command recorded an access to stored data. If
 * another user sees the results, a further access must be recorded.
 */
const showsTo = (visit: Visit, run: CommandRun): Shows | 'nobody' =>
  run.user === visit.session.user ? 'nobody' : showingAll(visit);

function waiting(visit: Visit, file: DeskFile, run: CommandRun): Page {
  const share = run.progress === undefined ? undefined : Math.round(run.progress * 100);
  const isRead = share === 100;
  const state = isRead
    ? visit.say('The file is read. Its rows are compared with the registry…')
    : visit.say('The file is being read…');
  const body = html`<p role="status">${run.hasAgreed ? visit.say('The rows are being written…') : state}</p>
<progress max="100" aria-label="${visit.say('Progress')}"${
    share !== undefined && !isRead && html` value="${share}"`
  }></progress>
<p><small>${visit.say('You can close this page: the work continues under “Import”.')}</small></p>
${form(visit, {
  path: pathOf(file),
  action: 'stop',
  look: 'plain',
  button: run.hasAgreed ? visit.say('Stop: nothing of the file is imported') : visit.say('Stop'),
})}`;
  return page(visit, file, body, { refreshSeconds: 1 });
}

async function choices(visit: Visit, file: DeskFile, faults: readonly string[] = []): Promise<Page> {
  const { proposing } = file;
  const { proposal } = proposing;
  const body = html`<div class="narrow">${kindForm(visit, file)}</div>
${
  proposal === undefined
    ? (proposing.textsOf('failed').length > 0 ? details : failure)(visit, proposing)
    : await choicesForm(visit, file, proposal, faults)
}
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
<a href="/imports/${same}">${visit.say('Show it')}</a></p>`
  }
${report.outcome !== 'failed' && counts(visit, report)}
${details(visit, check, roundingForms(visit, file, check))}
${nextSteps(visit, file, check)}${aside(visit, file, true)}`;
  return page(visit, file, body);
}

function imported(visit: Visit, file: DeskFile, run: CommandRun): Page {
  const { report } = run;
  if (report?.outcome !== 'imported') {
    const reason = (report === undefined ? failure : details)(visit, run);
    const body = html`<p><b>${visit.say('Nothing of this file was imported.')}</b></p>
${reason}${again(visit, file)}${aside(visit, file, true)}`;
    return page(visit, file, body);
  }
  const isUndone = deskFilesOf(visit).isUndone(file);
  const [what, more] = isUndone
    ? [visit.say('The file was imported, and the import undone.'), visit.say('Changes')]
    : [visit.say('The file is imported.'), visit.say('Changes, and their undo')];
  const body = html`<p class="told" role="status">${what}
<a href="/imports/${report.importId}">${more}</a></p>
${isUndone && again(visit, file)}${counts(visit, report)}
${report.refusedRows > 0 && rejectsLink(visit, file)}${details(visit, run)}
${aside(visit, file, false)}`;
  return page(visit, file, body);
}

function describeFault(visit: Visit, { path, message }: MapFault): string {
  const [, place = path] = /^constants\.(\w+)$/.exec(path) ?? [];
  const label = place === path ? path : visit.translate(nameOf(place));
  return visit.say('{label}: {value}', { label, value: visit.translate(atDesk(message) ?? message) });
}

type FileAction<Result> = (visit: Visit, file: DeskFile, form: Form) => Result;

/**
 * Returns an action that does nothing while a command works on the file, and after the import.
 * @param followsUndo true if the action is possible again after the import was undone
 */
const settled =
  (act: FileAction<ReturnType<Action>>, followsUndo = false): Action =>
  (visit, fields) => {
    const file = fileOf(visit);
    if (file === undefined) return undefined;
    const isDone = isImported(file) && !(followsUndo && deskFilesOf(visit).isUndone(file));
    if (lastRunOf(file).isAtWork || isDone) return { goTo: pathOf(file), told: OUTDATED };
    return act(visit, file, fields);
  };

/** Returns an action that does nothing unless the user has seen the latest check of the file. */
const agreed = (act: FileAction<void>): Action =>
  settled((visit, file, fields) => {
    if (String(file.check?.id) !== fields.get('check')) return { goTo: pathOf(file), told: OUTDATED };
    act(visit, file, fields);
    return { goTo: pathOf(file) };
  });

const changing = (change: (choices: ImportChoices, fields: Form) => ImportChoices): Action =>
  agreed((visit, file, fields) => {
    const kind = kindOf(file);
    if (kind === undefined || file.choices === undefined) return;
    deskFilesOf(visit).startCheck(file, kind, change(file.choices, fields), runAs(visit));
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
    const wantsChoices = visit.query.get('choose') !== null && !isImported(file);
    const result =
      file.check === undefined || wantsChoices
        ? await choices(visit, file)
        : (run.hasAgreed ? imported : checked)(visit, file, run);
    return { ...result, shows: showsTo(visit, run) };
  },
  actions: {
    kind: settled((visit, file, fields) => {
      const kind = IMPORT_KINDS.find((name) => name === fields.get('kind'));
      if (kind === undefined) return undefined;
      deskFilesOf(visit).readAs(file, kind, fields.get('sheet'), runAs(visit));
      return { goTo: pathOf(file) };
    }),
    check: settled((visit, file, fields) => {
      const { proposal } = file.proposing;
      if (proposal === undefined) return { goTo: pathOf(file) };
      const { kind } = proposal.document;
      const { zone } = visit.desk.storage;
      const map = chosenMap(proposal, fields, formatDate(visit.now, zone));
      const replaces = Number(fields.get('replaces')) || undefined;
      const chosen = { map, replaces, skipInvalid: false, skipsHidden: fields.get('skip_hidden') === 'yes' };
      deskFilesOf(visit).give(file, chosen);
      const repeatedColumns = chosenTwice(proposal, fields).map((column) =>
        visit.say('Two columns are read as {column}: choose something else for one of them.', {
          column: nameOf(column),
        }),
      );
      if (repeatedColumns.length > 0) return choices(visit, file, repeatedColumns);
      const layout = parseMap(map, { kind, cells: cellContext(zone, visit.now) });
      if (!('kind' in layout)) {
        const faults = layout.map((fault) => describeFault(visit, fault));
        return choices(visit, file, faults);
      }
      deskFilesOf(visit).startCheck(file, kind, chosen, runAs(visit));
      return { goTo: pathOf(file) };
    }),
    good: changing((choices) => ({ ...choices, skipInvalid: true })),
    round: changing((choices, fields) => ({ ...choices, map: roundedMap(choices.map, fields) })),
    again: settled((visit, file) => {
      deskFilesOf(visit).checkAgain(file, runAs(visit));
      return { goTo: pathOf(file) };
    }, true),
    import: agreed((visit, file, fields) => {
      // If there are warnings, the form requires the checkbox `agreed`, so browsers always send it.
      if (file.check?.report?.outcome === 'accepted' || fields.get('agreed') !== '')
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
    if (file === undefined) return undefined;
    const path = deskFilesOf(visit).rejectsOf(file.id);
    if (!existsSync(path)) return undefined;
    const shows = showsTo(visit, lastRunOf(file));
    const parts: AsyncIterable<Uint8Array> = createReadStream(path);
    return { fileName: `rejects-${file.id}.csv`, type: 'text/csv; charset=utf-8', parts, shows };
  },
};
