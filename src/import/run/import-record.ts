/** What the registry records of an import: the file, and how it was read. */
import type { ImportRecord } from '../../store/contract/import/import-session.ts';
import type { ImportNote } from '../cells/notes.ts';
import type { FileLayout } from '../map/file-layout.ts';

/** Lines kept of a note: where to look, not a copy of the file. */
const KEPT_LINES = 20;

interface ImportedFile {
  readonly fileName: string;
  readonly sha256: string;
  readonly systemUser: string;
  readonly map: FileLayout | undefined;
  readonly options: { readonly [name: string]: boolean | number };
  readonly notes: readonly ImportNote[];
}

export const toImportRecord = ({ map, notes, ...file }: ImportedFile): ImportRecord => ({
  ...file,
  map: map === undefined ? null : describeMap(map),
  notes: notes.map((note) => ({
    kind: note.kind,
    column: note.column,
    count: note.count,
    lines: firstOf(note.lines()),
  })),
});

function firstOf(lines: Iterable<number>): number[] {
  const first: number[] = [];
  for (const line of lines) {
    if (first.length === KEPT_LINES) break;
    first.push(line);
  }
  return first;
}

/** Of a map, what is recorded. */
export const describeMap = ({ columns, constants, values, ...rest }: FileLayout) => ({
  ...rest,
  columns: Object.fromEntries(columns),
  constants: Object.fromEntries(constants),
  values: Object.fromEntries([...values].map(([column, words]) => [column, Object.fromEntries(words)])),
});
