/** Of which kind a file is, and which sheet of a workbook is read. */
import { type Html, html } from '../../../html/html.ts';
import { IMPORT_KINDS, type ImportKind } from '../../../store/contract/import/import-session.ts';
import type { DeskFile } from '../../importing/desk-files.ts';
import { nameOf } from '../../page/names.ts';
import { form, input, select } from '../../page/parts.ts';
import type { Visit } from '../../visit/screen.ts';

/** The kind and the sheet, which may have been guessed wrongly. */
export const kindForm = (visit: Visit, file: DeskFile, kind: ImportKind | undefined): Html =>
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

/** Typed where the sheets are not known, as of a workbook that cannot be read. */
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
