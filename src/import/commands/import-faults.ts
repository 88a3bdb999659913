/** Shows the faults of a file to an operator: equal ones together, the first of them with their places. */

import type { ImportFault } from '../../formats/records.ts';
import { DERIVED_REFERENCE } from '../../registry/entries.ts';
import { formatStored, kindOf } from '../../registry/file-columns.ts';
import { describeLines, SHOWN_LINES } from '../../terminal/output.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { asMessage, joinTexts, type Message, say, type Text, Written } from '../../values/message.ts';
import { nameOf } from '../import-report.ts';
import type { AcceptedFile } from '../staging/import-transaction.ts';
import { IMPORT_COLUMNS } from '../table/columns.ts';
import type { FileToShow } from './import-output.ts';

/** Limit of the different faults shown of one file, and of the kept values; the rest is counted. */
const SHOWN_FAULTS = 20;

/** Shows a message. @param lines first lines of the file that it is about */
export type Show = (text: Text, lines?: readonly number[]) => void;

/** Equal faults of several rows, with their first lines. */
interface EqualFaults {
  readonly fault: ImportFault;
  rows: number;
  readonly lines: number[];
}

/** Groups equal faults in the place of the first; keeps only as many different ones as are shown. */
function collectFaults({ checked }: FileToShow): EqualFaults[] {
  const found = new Map<string, EqualFaults>();
  for (const fault of checked.listFaults()) {
    const key = `${fault.column}\n${fault.message}`;
    const equal = found.get(key) ?? { fault, rows: 0, lines: [] };
    if (equal.rows === 0 && found.size === SHOWN_FAULTS) continue;
    found.set(key, equal);
    if (equal.rows++ < SHOWN_LINES) equal.lines.push(fault.line);
  }
  return [...found.values()];
}

/** @param rejects the path given by `--rejects` */
export function showFaults(show: Show, shown: FileToShow, rejects: string | undefined): void {
  const { checked, source, findings } = shown;
  const file = nameOf(shown.file);
  const sheet = source.format.type === 'workbook' ? source.format.sheet : undefined;
  let rest = checked.faults;
  let areLinesLeft = false;
  for (const { fault, rows, lines } of collectFaults(shown)) {
    rest -= rows;
    areLinesLeft ||= rows > lines.length;
    show(describeFault(file, fault, { rows, lines, sheet, cell: findings.cellOf(fault) }), lines);
  }
  if (rest > 0) {
    show(
      rejects === undefined
        ? say('{file}: {rest} more; --rejects FILE writes all of them.', { file, rest })
        : say('{file}: {rest} more; the rejects have all of them.', { file, rest }),
    );
  } else if (areLinesLeft) {
    show(
      rejects === undefined
        ? say('{file}: --rejects FILE writes all rows with faults.', { file })
        : say('{file}: the rejects have all rows with faults.', { file }),
    );
  }
}

interface FaultPlace {
  readonly rows: number;
  readonly lines: readonly number[];
  /** Sheet of a workbook; undefined for a text file. */
  readonly sheet: string | undefined;
  readonly cell: string | undefined;
}

function describeFault(file: string, fault: ImportFault, { rows, lines, sheet, cell }: FaultPlace): Message {
  const { line, column } = fault;
  const fields = { file, line, column, message: asMessage(fault.message) };
  if (rows > 1) {
    const places = [
      ...(sheet === undefined ? [] : [say('sheet {sheet}', { sheet })]),
      ...(column === '' ? [] : [say('column {column}', { column })]),
      describeLines(lines, rows),
    ];
    return say('{file}: {rows} rows: {message} ({places})', { ...fields, rows, places });
  }
  if (sheet !== undefined && cell !== undefined) {
    return say('{file} line {line}, column {column}: {message} (sheet {sheet}, cell {cell})', {
      ...fields,
      sheet,
      cell,
    });
  }
  return column === ''
    ? say('{file} line {line}: {message}', fields)
    : say('{file} line {line}, column {column}: {message}', fields);
}

// Stored data that an import leaves unchanged: corrected values, and rows that a newer version lacks

/** Number of rows shown that the replaced import had and the file lacks. */
const SHOWN_MISSING = 3;
const SHOWN_OF_MISSING = {
  codes: ['code', 'member_code', 'loan_reference', 'reference', 'delivered_at', 'transacted_at', 'paid_at'],
  values: ['kg', 'product', 'kind', 'amount'],
};

/** Lists values that the file would change and that stay as they were corrected. */
export function showKept(show: Show, file: string, accepted: AcceptedFile): void {
  let shown = 0;
  for (const { line, column } of accepted.listKept()) {
    if (shown++ === SHOWN_FAULTS) break;
    show(
      say('{file} line {line}, column {column}: kept, because it was corrected after it was imported.', {
        file,
        line,
        column,
      }),
      [line],
    );
  }
  const rest = accepted.changes.kept - SHOWN_FAULTS;
  if (rest > 0)
    show(
      say('{file}: {rest|# more value is|# more values are} kept; --json lists all of them.', { file, rest }),
    );
  if (accepted.canOverwriteKept)
    show(say('{file}: to import these values nevertheless, add --overwrite-corrections.', { file }));
}

/** Marks a cell as a value that a page formats its own way. @param text of an instant, only the day */
function writtenOf(column: string, text: string): string | Written {
  const kind = kindOf(column)?.kind;
  if (text === '') return text;
  if (kind === 'decimal') return new Written('amount', text);
  return kind?.endsWith('instant') === true ? new Written('day', text) : text;
}

/** Shows only the codes of members; of entries that would be removed, the amounts too. */
export function showMissing(
  show: Show,
  { file, checked }: FileToShow,
  { zone, absent }: { readonly zone: TimeZone; readonly absent: string | undefined },
): void {
  const missing = checked.isRefused ? undefined : checked.missing;
  if (missing === undefined || missing.count === 0) return;
  const names = IMPORT_COLUMNS[file.kind].map(({ name }) => name);
  const isShown = (name: string) =>
    SHOWN_OF_MISSING.codes.includes(name) || (missing.areRemoved && SHOWN_OF_MISSING.values.includes(name));
  // Instants are shown as days, and derived references, which nobody has written, not at all.
  const shorten = (text: string) =>
    hideIdentityCards(text.startsWith(DERIVED_REFERENCE) ? '' : text.replace(/T\d\d:.*$/, ''));
  const examples: Text[] = [];
  for (const values of missing.list()) {
    const cells = names.flatMap((name, i) =>
      isShown(name) ? writtenOf(name, shorten(formatStored(name, values[i] ?? null, zone) ?? '')) : [],
    );
    if (
      examples.push(
        joinTexts(
          cells.filter((cell) => cell !== ''),
          ' ',
        ),
      ) === SHOWN_MISSING
    )
      break;
  }
  if (missing.count > examples.length) examples.push('…');
  const { count } = missing;
  const rows = say(
    '{count|# row of the replaced import is|# rows of the replaced import are} not in this file ({examples})',
    { count, examples: joinTexts(examples, '; ') },
  );
  const places = { file: nameOf(file), rows, count };
  if (missing.areRemoved) show(say('{file}: {rows}.', places));
  else if (absent === undefined)
    show(say('{file}: {rows}: {count|it stays|they stay}; --absent FILE writes {count|it|them}.', places));
  else
    show(
      say('{file}: {rows}: {count|it stays|they stay}; {absent} lists {count|it|them}.', {
        ...places,
        absent,
      }),
    );
}
