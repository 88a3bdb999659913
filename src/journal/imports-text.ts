/** Output of imports and their undo: text for people, JSON for programs. */

import type { Visit } from '../desk/screen.ts';
import { nameOf } from '../registry/pages/show-stored-values.ts';
import { describeLines, formatFields, formatRows, SHOWN_LINES } from '../terminal/output.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type Html, html } from '../values/html.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import type { Operation } from './operations.ts';

export const describeImport = (recorded: Operation, zone: TimeZone) => ({
  id: recorded.id,
  file: recorded.fileName,
  sha256: recorded.sha256,
  kind: recorded.kind,
  imported_at: formatDateTime(recorded.importedAt, zone),
  user: recorded.systemUser,
  created: recorded.created,
  changed: recorded.changed,
  unchanged: recorded.unchanged,
  kept: recorded.kept,
  refused_rows: recorded.refusedRows,
  removed: recorded.removed,
  replaces: recorded.replaces,
  replaced_by: recorded.replacedBy,
  undone_at: recorded.undoneAt === null ? null : formatDateTime(recorded.undoneAt, zone),
  undone_by: recorded.undoneBy,
  reason: recorded.reason,
});

type DescribedImport = ReturnType<typeof describeImport>;

export const formatUndone = ({ undone_at: at, undone_by: by }: DescribedImport): string | null =>
  at === null || by === null ? at : `${at}, by ${by}`;

export const formatImports = (imports: readonly DescribedImport[]): string =>
  formatRows(imports, {
    ID: 'id',
    FILE: 'file',
    KIND: 'kind',
    IMPORTED: 'imported_at',
    BY: 'user',
    NEW: 'created',
    CHANGED: 'changed',
    UNCHANGED: 'unchanged',
    REPLACES: 'replaces',
    UNDONE: formatUndone,
  });

/** Formats each option that is set, with its value. An option with several values gets a line for each. */
function formatOptions(options: unknown): string[] {
  return Object.entries(options as object).flatMap(([option, value]: [string, unknown]): string[] => {
    const name = option.replaceAll('_', ' ');
    if (value === false || value === null) return [];
    if (value === true) return [name];
    if (typeof value !== 'object') return [`${name}: ${hideIdentityCards(String(value))}`];
    const entries = Object.entries(value).map(([key, entry]) => [key, entry ?? 'ignored']);
    return formatOptions(Object.fromEntries(entries)).map((line) => `${name}: ${line}`);
  });
}

interface RecordedNote {
  readonly kind: string;
  readonly column: string;
  readonly count: number;
  readonly lines: readonly number[];
}

/** A note of a correction is a sentence; a note of an import is a `RecordedNote`. */
const formatNotes = (notes: unknown): string[] =>
  (notes as readonly (RecordedNote | string)[]).map((note) => {
    if (typeof note === 'string') return note;
    const { kind, column, count, lines } = note;
    const where = column === '' ? '' : ` in column ${hideIdentityCards(column)}`;
    return `${kind.replaceAll('_', ' ')}${where}: ${describeLines(lines.slice(0, SHOWN_LINES), count)}`;
  });

const formatList = (name: string, lines: readonly string[]): (readonly [string, string])[] =>
  lines.length === 0 ? [[name, 'none']] : lines.map((line, i) => [i === 0 ? name : '', line]);

/** @param described the same operation in its JSON form */
export function formatImport({ map, options, notes }: Operation, described: DescribedImport): string {
  const { created, changed, unchanged, kept, removed, refused_rows: refused, reason } = described;
  const counts = { new: created, changed, unchanged, removed, 'values kept': kept, refused };
  const rows = Object.entries(counts).filter(([, count], i) => i < 3 || count > 0);
  const { file, sha256, replaces, replaced_by: replacedBy } = described;
  return formatFields([
    ['id', String(described.id)],
    ...(reason === null
      ? ([['file', file] as const, ['SHA-256', sha256]] as const)
      : [['reason', reason] as const]),
    ['kind', described.kind],
    ['imported', `${described.imported_at} by ${described.user}`],
    ['rows', rows.map(([name, count]) => `${count} ${name}`).join(', ')],
    ...(replaces === null ? [] : [['replaces', `import ${replaces}`] as const]),
    ...(replacedBy === null ? [] : [['replaced', `by import ${replacedBy}`] as const]),
    ...formatList('options', formatOptions(options)),
    ...formatList('map', formatOptions(map ?? {})),
    ...formatList('notes', formatNotes(notes)),
    ['undone', formatUndone(described) ?? 'no'],
  ]);
}

/** Returns the file of an import, the kind of a row entered by hand, or the reason of a correction. */
export const whatOf = ({ translate }: Visit, { kind, fileName, reason }: Operation): string =>
  kind === 'row_enter' ? translate(nameOf(reason ?? '')) : fileName || (reason ?? '');

/** Formats the time and user of an undo. @returns false if the operation was not undone */
export const writeUndone = ({ write }: Visit, { undoneAt, undoneBy }: Operation): string | false =>
  undoneAt !== null && [write.moment(undoneAt), ...(undoneBy === null ? [] : [undoneBy])].join(', ');

export function undoneMark(visit: Visit, operation: Operation): Html | false {
  const undone = writeUndone(visit, operation);
  return undone !== false && html`<br><b>${visit.say('undone: {when}', { when: undone })}</b>`;
}
