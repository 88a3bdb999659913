/** What kind of rows a file has, guessed from its name and its headings. */
import { basename } from 'node:path';
import { IMPORT_KINDS, type ImportKind } from '../../store/contract/import/import-session.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import { openFile, scanFile } from '../formats/open-file.ts';
import { recogniseHeadings, scoreHeader } from '../table/headings.ts';
import { sampleFile } from './sample-file.ts';

/** What stands in names of files for a kind, beside the kind itself: in English, French and Kinyarwanda. */
const NAMES: { readonly [kind in ImportKind]: RegExp } = {
  cooperatives: /cooperatives|coopératives|amakoperative/i,
  members: /members|membres|abanyamuryango|urutonde/i,
  production: /production|livraison|delivery|deliveries|umusaruro|recolte|récolte/i,
  loans: /loans|prêts|prets|crédits|credits|inguzanyo/i,
  payments: /payments|paiements|remboursement|kwishyura|ubwishyu/i,
  savings: /savings|épargne|epargne|ubwizigame|kuzigama/i,
};

/** A name that says the kind is worth so many headings. */
const NAME_SCORE = 2;

/**
 * The kind whose columns most headings name; one that lacks what every row needs counts for less.
 * @param name what people call the file; else that of its path
 * @throws FileFault when the file cannot be read
 */
export async function guessKind(path: string, name = basename(path)): Promise<ImportKind> {
  const scored: { kind: ImportKind; score: number }[] = [];
  const content = await scanFile(path);
  let fault: unknown;
  for (const kind of IMPORT_KINDS) {
    const source = await openFile(path, { content, scoreHeader: (cells) => scoreHeader(kind, cells) });
    try {
      const { header } = await sampleFile(source, kind);
      scored.push({ kind, score: scoreOf(kind, header.cells) + (NAMES[kind].test(name) ? NAME_SCORE : 0) });
    } catch (error) {
      fault = error;
    } finally {
      await source.close();
    }
  }
  const [best] = scored.sort((one, other) => other.score - one.score);
  if (best === undefined) throw fault;
  return best.kind;
}

/** Recognised columns, less those that are required and missing; a cooperative's code may be asked for. */
function scoreOf(kind: ImportKind, cells: readonly string[]): number {
  const found = new Set(recogniseHeadings(kind, cells).flatMap(({ column }) => column ?? []));
  const missing = IMPORT_COLUMNS[kind].filter(
    ({ name, isRequired, choices }) =>
      isRequired && !found.has(name) && name !== 'cooperative_code' && choices === undefined,
  );
  return found.size - missing.length;
}
