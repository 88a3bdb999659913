/** The rows of a cooperative as a file, as `export` writes it. */
import { say } from '../../../domain/values/message.ts';
import type { FileFormat } from '../../../export/export-request.ts';
import { exportedParts } from '../../../export/exported-parts.ts';
import { Spool } from '../../../export/spool.ts';
import { MOST_WORKBOOK_ROWS, WORKBOOK_TYPE } from '../../../export/workbook.ts';
import { writeToSpool } from '../../../export/write-spool.ts';
import type { FieldGroup } from '../../../store/contract/access-ledger.ts';
import { IMPORT_KINDS, type ImportKind } from '../../../store/contract/import/import-session.ts';
import type { Action } from '../../visit/screen.ts';
import { refuseGiven } from '../propose-correction.ts';
import { codeOf, pathOf } from './find-cooperative.ts';

const TYPES: { readonly [format in FileFormat]?: string } = {
  csv: 'text/csv; charset=utf-8',
  xlsx: WORKBOOK_TYPE,
};

const shownOf = (kind: ImportKind): readonly FieldGroup[] =>
  kind === 'members' ? ['identity', 'contact'] : ['identity', 'financials'];

export const exportRows: Action = async (visit, given) => {
  const { desk } = visit;
  const code = codeOf(visit);
  const kind = IMPORT_KINDS.find((each) => each === given.get('kind'));
  const format = (['csv', 'xlsx'] as const).find((each) => each === given.get('format'));
  const session = visit.use((storage) => storage.openExportSession());
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
    return refuseGiven(visit, say('Save its rows as a file'), pathOf(visit), fault);
  }
  const spool = visit.use((storage) => new Spool(storage.openSpool()));
  // A workbook is for people, CSV for programs.
  const file = { kind, format, labels: format === 'xlsx' ? visit.language : undefined };
  // Whoever takes the file slowly holds no snapshot.
  for await (const part of await exportedParts(snapshot, file, filter, desk.config.zone))
    await spool.use(async (descriptor) => writeToSpool(session, descriptor, part));
  session.end();
  return {
    fileName: `${code}-${kind}.${format}`,
    type: TYPES[format] ?? '',
    parts: spool.read(),
    shows: {
      fields: shownOf(kind),
      subject: { all: { asOfSequence: snapshot.sequence, cooperativeIds: [cooperativeId] } },
    },
  };
};
