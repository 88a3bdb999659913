/** Output of imports and their undo: text for people, JSON for programs. */

import type { Visit } from '../desk/screen.ts';
import { nameOf } from '../registry/pages/stored-values.ts';
import { describeLines, formatFields, formatRows, SHOWN_LINES } from '../terminal/output.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type Html, html } from '../values/html.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import type { RecordedImport, UndoResult } from './operations.ts';

type Undone = Extract<UndoResult, { outcome: 'undone' }>;
type Refused = Extract<UndoResult, { outcome: 'refused' }>;

export const describeImport = (recorded: RecordedImport, zone: TimeZone) => ({
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

type ShownImport = ReturnType<typeof describeImport>;

/** Time and user of the undo; null if not undone. */
export const formatUndone = ({ undone_at: at, undone_by: by }: ShownImport): string | null =>
  at === null || by === null ? at : `${at}, by ${by}`;

export const describeRecord = (recorded: RecordedImport, zone: TimeZone) => ({
  ...describeImport(recorded, zone),
  map: recorded.map,
  options: recorded.options,
  notes: recorded.notes,
});

export const formatImports = (imports: readonly ShownImport[]): string =>
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

/** Names and values of options without those that are off; nested maps are prefixed with their name. */
function formatOptions(options: unknown): string[] {
  return Object.entries(options as object).flatMap(([name, value]: [string, unknown]): string[] => {
    const shown = name.replaceAll('_', ' ');
    if (value === false || value === null) return [];
    if (value === true) return [shown];
    if (typeof value !== 'object') return [`${shown}: ${hideIdentityCards(String(value))}`];
    return formatOptions(
      Object.fromEntries(Object.entries(value).map(([key, each]) => [key, each ?? 'ignored'])),
    ).map((each) => `${shown}: ${each}`);
  });
}

interface RecordedNote {
  readonly kind: string;
  readonly column: string;
  readonly count: number;
  readonly lines: readonly number[];
}

/** Notes of corrections are sentences. */
const formatNotes = (notes: unknown): string[] =>
  (notes as readonly (RecordedNote | string)[]).map((note) => {
    if (typeof note === 'string') return note;
    const { kind, column, count, lines } = note;
    const where = column === '' ? '' : ` in column ${hideIdentityCards(column)}`;
    return `${kind.replaceAll('_', ' ')}${where}: ${describeLines(lines.slice(0, SHOWN_LINES), count)}`;
  });

/** The first line goes beside the name, the others below it. */
const formatList = (name: string, lines: readonly string[]): (readonly [string, string])[] =>
  lines.length === 0 ? [[name, 'none']] : lines.map((line, i) => [i === 0 ? name : '', line]);

export function formatImport(shown: ReturnType<typeof describeRecord>): string {
  const counts = `${shown.created} new, ${shown.changed} changed, ${shown.unchanged} unchanged`;
  const kept = shown.kept === 0 ? '' : `, ${shown.kept} values kept`;
  const removed = shown.removed === 0 ? '' : `, ${shown.removed} removed`;
  const refused = shown.refused_rows === 0 ? '' : `, ${shown.refused_rows} refused`;
  return formatFields([
    ['id', String(shown.id)],
    ...(shown.reason === null
      ? [['file', shown.file] as const, ['SHA-256', shown.sha256] as const]
      : [['reason', shown.reason] as const]),
    ['kind', shown.kind],
    ['imported', `${shown.imported_at} by ${shown.user}`],
    ['rows', `${counts}${removed}${kept}${refused}`],
    ...(shown.replaces === null ? [] : [['replaces', `import ${shown.replaces}`] as const]),
    ...(shown.replaced_by === null ? [] : [['replaced', `by import ${shown.replaced_by}`] as const]),
    ...formatList('options', formatOptions(shown.options)),
    ...formatList('map', shown.map === null ? [] : formatOptions(shown.map)),
    ...formatList('notes', formatNotes(shown.notes)),
    ['undone', formatUndone(shown) ?? 'no'],
  ]);
}

export const describeUndo = (id: number, result: Undone | Refused, isDryRun: boolean) =>
  result.outcome === 'undone'
    ? {
        id,
        outcome: result.outcome,
        dry_run: isDryRun,
        removed: result.removed,
        restored: result.restored,
        lock_seconds: Number((result.lockMs / 1000).toFixed(3)),
      }
    : {
        id,
        outcome: result.outcome,
        dry_run: isDryRun,
        count: result.count,
        blockers: result.blockers,
        undo_first: result.first,
      };

/** File of an import, kind of a row entered by hand, or reason of another correction. */
export const whatOf = ({ translate }: Visit, { kind, fileName, reason }: RecordedImport): string =>
  kind === 'row_enter' ? translate(nameOf(reason ?? '')) : fileName || (reason ?? '');

/**
 * Time and user of the undo of an operation.
 * @returns false if not undone
 */
export const writeUndone = ({ write }: Visit, { undoneAt, undoneBy }: RecordedImport): string | false =>
  undoneAt !== null && [write.moment(undoneAt), ...(undoneBy === null ? [] : [undoneBy])].join(', ');

/** Mark of an undone operation in a list. */
export function undoneMark(visit: Visit, recorded: RecordedImport): Html | false {
  const undone = writeUndone(visit, recorded);
  return undone !== false && html`<br><b>${visit.say('undone: {when}', { when: undone })}</b>`;
}
