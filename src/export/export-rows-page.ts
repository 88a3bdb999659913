/** Part of a cooperative's page at the desk: downloads rows as a file, like the command `export`. */

import { form, refuseGiven, select } from '../desk/parts.ts';
import type { Action, PagePart, Visit } from '../desk/screen.ts';
import { MOST_WORKBOOK_ROWS, WORKBOOK_TYPE } from '../formats/write-csv-and-workbooks.ts';
import { IMPORT_KINDS } from '../registry/file-columns.ts';
import { codeOf, cooperativePath } from '../registry/pages/find-visited.ts';
import { nameOf } from '../registry/pages/show-stored-values.ts';
import { type Html, html } from '../values/html.ts';
import { say } from '../values/message.ts';
import { openSpool, writeToSpool } from './disk-buffer.ts';
import { EXPORTED } from './export-columns.ts';
import { exportedParts } from './export-formats.ts';
import { openExportSession } from './exported-rows.ts';

const TYPES = { csv: 'text/csv; charset=utf-8', xlsx: WORKBOOK_TYPE };

const exportRows: Action = async (visit, submitted) => {
  const { desk } = visit;
  const code = codeOf(visit);
  const kind = IMPORT_KINDS.find((name) => name === submitted.get('kind'));
  const format = (['csv', 'xlsx'] as const).find((name) => name === submitted.get('format'));
  const session = visit.use(openExportSession);
  const cooperativeId = session.findCooperative(code);
  if (kind === undefined || format === undefined || cooperativeId === undefined) return undefined;
  const snapshot = session.begin();
  const filter = { visible: null, isNamed: true, cooperativeId };
  const rows = format === 'xlsx' ? snapshot.count(kind, filter) : 0;
  if (rows > MOST_WORKBOOK_ROWS) {
    const fault = say('These are {rows} rows, and a workbook takes {most}: choose CSV.', {
      rows,
      most: MOST_WORKBOOK_ROWS,
    });
    return refuseGiven(visit, say('Save rows as a file'), cooperativePath(visit), fault);
  }
  const { descriptor, parts } = visit.use(openSpool);
  // Workbooks are for people, CSV files for programs.
  const file = { kind, format, labels: format === 'xlsx' ? visit.language : undefined };
  for await (const part of await exportedParts(snapshot, file, filter, desk.storage.zone))
    writeToSpool(session, descriptor, part);
  session.end();
  return {
    fileName: `${code}-${kind}.${format}`,
    type: TYPES[format],
    parts,
    shows: {
      fields: EXPORTED[kind].groups,
      subject: { all: { asOfSequence: snapshot.sequence, cooperativeIds: [cooperativeId] } },
    },
  };
};

function showExport(visit: Visit): Html {
  const { say, translate } = visit;
  const path = cooperativePath(visit);
  const kinds = IMPORT_KINDS.filter((kind) => kind !== 'cooperatives').map(
    (kind) => [kind, translate(nameOf(kind))] as const,
  );
  return html`<details><summary>${say('Save rows as a file')}</summary>${form(visit, {
    path,
    action: 'export',
    button: say('Save the file'),
    saves: true,
    body: html`${select('kind', say('Rows'), kinds)}${select('format', say('Format'), [
      ['xlsx', say('Excel workbook')],
      ['csv', say('CSV for programs')],
    ])}`,
  })}<p><small>${say('The file holds personal data. Keep it as carefully as the registry.')}</small></p>
</details>`;
}

export const EXPORTING: PagePart = { actions: { export: exportRows }, show: showExport };
