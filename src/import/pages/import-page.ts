/** Page `/import`: an area to drop files, the uploaded files, and the recorded imports and corrections. */

import { Readable } from 'node:stream';
import { form, table } from '../../desk/parts.ts';
import type { Screen, Visit } from '../../desk/screen.ts';
import { WORKBOOK_TYPE } from '../../formats/write-csv-and-workbooks.ts';
import { undoneMark, whatOf } from '../../journal/imports-text.ts';
import type { Operation } from '../../journal/operations.ts';
import { openJournal } from '../../journal/undo.ts';
import { IMPORT_KINDS } from '../../registry/file-columns.ts';
import { nameOf } from '../../registry/pages/show-stored-values.ts';
import { type Html, html } from '../../values/html.ts';
import { say } from '../../values/message.ts';
import { templateOf } from '../template.ts';
import { deskFilesOf } from './desk-files.ts';
import { stateOf } from './findings.ts';
import { runAs } from './previews-and-runs.ts';
import { rowsOfOperation, type ShownRow, showingRows } from './recorded-import.ts';

const PAGE = 25;

export const IMPORT: Screen = {
  path: '/import',
  title: say('Import'),
  menu: say('Import'),
  personal: 'some',
  takesFiles: true,
  read(visit) {
    const before = Number(visit.query.get('before')) || Number.MAX_SAFE_INTEGER;
    // Lists one import more than the page shows, to know whether there are earlier ones.
    const log = visit.use(openJournal);
    const imports = log.list({ before, limit: PAGE + 1 }).toReversed();
    // The members' names help users to find the paper from which they typed a row.
    const enteredRows = new Map(
      imports
        .filter(({ kind }) => kind === 'row_enter')
        .map((operation) => [operation.id, rowsOfOperation(visit, log, operation)]),
    );
    const body = html`<h1>${visit.say('Import')}</h1>
${dropping(visit)}${templates(visit)}${filesInProgress(visit)}
<h2>${visit.say('Imports and corrections')}</h2>${history(visit, imports, enteredRows)}`;
    // The page refreshes only while maps are suggested, which takes seconds. During an import, which may take
    // minutes, a user who is choosing files would lose the selection.
    const isReading = deskFilesOf(visit)
      .list()
      .some(({ proposing }) => proposing.status === undefined);
    const shows = showingRows([...enteredRows.values()].flat());
    return { body, shows, ...(isReading ? { refreshSeconds: 3 } : {}) };
  },
  actions: {
    async add(visit, { files }) {
      let path = '/import';
      for (const { name, content } of files) {
        const { id } = await deskFilesOf(visit).add(name, content, runAs(visit));
        if (files.length === 1) path = `/import/${id}`;
      }
      return { goTo: path };
    },
  },
};

const dropping = (visit: Visit): Html =>
  form(visit, {
    path: '/import',
    action: 'add',
    takesFiles: true,
    button: visit.say('Check files'),
    body: html`<label class="drop">${visit.say('Drop files here, or choose them: CSV or Excel workbooks')}
<input type="file" name="file" multiple required accept=".csv,.txt,.tsv,.xlsx,.ods">
<small>${visit.say('Nothing is imported before you have seen what it would change.')}</small></label>
<p class="unseen" role="status" data-fault="${visit.say('The file could not be sent. Try again.')}"></p>`,
  });

const templates = (visit: Visit): Html =>
  html`<p>${visit.say('Templates:')} ${IMPORT_KINDS.map(
    (kind, i) =>
      html`${i > 0 && ' · '}<a href="/import/template/${kind}">${visit.translate(nameOf(kind))}</a>`,
  )}</p>`;

function filesInProgress(visit: Visit): Html | false {
  const files = deskFilesOf(visit).list();
  return (
    files.length > 0 &&
    html`<h2>${visit.say('Your files')}</h2>${table(
      visit.say('Your files'),
      [{ heading: visit.say('File') }, { heading: visit.say('State') }],
      files.map((file) => [html`<a href="/import/${file.id}">${file.name}</a>`, stateOf(visit, file)]),
    )}<p><small>${visit.say('They stay here until you remove them, even after the desk is closed.')}
${visit.say('The copy of a completely imported file is then removed; its rows stay.')}</small></p>`
  );
}

function history(
  visit: Visit,
  imports: readonly Operation[],
  enteredRows: ReadonlyMap<number, readonly ShownRow[]>,
): Html {
  if (imports.length === 0) return html`<p>${visit.say('None yet.')}</p>`;
  const page = imports.slice(0, PAGE);
  const last = page.at(-1);
  const { number, moment } = visit.write;
  return html`${table(
    visit.say('Imports and corrections'),
    [
      { heading: visit.say('What') },
      { heading: visit.say('New'), isNumber: true },
      { heading: visit.say('Changed'), isNumber: true },
      { heading: visit.say('Unchanged'), isNumber: true },
    ],
    page.map((operation) => {
      const { id, kind, importedAt, systemUser, created, changed, unchanged } = operation;
      return [
        html`<a href="/imports/${id}">${visit.say('{id}: {what}', { id, what: nameOf(kind) })}</a>
<br><small>${whatOf(visit, operation)}<br>
${enteredRows.get(id)?.map(({ member, values }) => html`${member} ${values}<br>`)}
${moment(importedAt)}, ${systemUser}${undoneMark(visit, operation)}</small>`,
        ...[number(created), number(changed), number(unchanged)],
      ];
    }),
  )}${
    last !== undefined &&
    imports.length > PAGE &&
    html`<p><a href="/import?before=${last.id}">${visit.say('Earlier')}</a></p>`
  }`;
}

// Page `/import/template/…`: the same workbook as the command `import template` writes

export const TEMPLATE: Screen = {
  path: '/import/template/:kind',
  title: say('Templates'),
  personal: 'none',
  async read({ places, language }) {
    const kind = IMPORT_KINDS.find((name) => name === places.kind);
    if (kind === undefined) return undefined;
    const parts = Readable.from([await templateOf(kind, language)]);
    return { fileName: `template-${kind}.xlsx`, type: WORKBOOK_TYPE, parts, shows: 'nobody' };
  },
};
