/** The faults of a file for an operator: equal ones together, the first of them with their places. */
import { asMessage, type Message, say, type Text } from '../../domain/values/message.ts';
import { nameOf } from '../../import/run/import-report.ts';
import type { ImportFault } from '../../store/contract/import/import-session.ts';
import { describeLines, SHOWN_LINES } from './import-notes.ts';
import type { FileToShow } from './import-output.ts';

/** Different faults shown of one file, and values that are kept; the rest is counted. */
export const SHOWN_FAULTS = 20;

/** Shows a line. @param lines of the file that it is about, the first of them */
export type Show = (text: Text, lines?: readonly number[]) => void;

/** Equal faults of several rows, with the first of them. */
interface EqualFaults {
  readonly fault: ImportFault;
  rows: number;
  readonly lines: number[];
}

/** Equal faults are one, in the place of the first; only as many different ones as are shown are kept. */
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
  /** Of a workbook. */
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
