/** A row as it was delivered → the row of the rejects, which is read again as the original was. */

import type { Language } from '../../language/language.ts';
import type { FileRecord } from '../formats/source/records.ts';
import { filesOf } from '../table/file-column.ts';
import type { Header } from '../table/header.ts';
import {
  addedColumnOf,
  addedHeading,
  addedHeadingsOf,
  FAULTS_COLUMN,
  FILE_COLUMN,
  REPEATS_COLUMN,
} from '../table/headings.ts';
import { createMarks } from '../table/repeated-row.ts';

/** Begins the reasons that are not below their heading. */
const beforeReasons = (heading: string): string => `${heading}: `;
const REASONS = addedHeadingsOf(FAULTS_COLUMN).map(beforeReasons);

export interface RejectedRows {
  /** The own headings of the file and that of the reasons. */
  header(cells: readonly string[]): string[];
  /** @param isRepeat whether the file has the row twice */
  row(record: FileRecord, reason: string, isRepeat: boolean): string[];
}

export interface RejectsOptions {
  /** Whether spreadsheets must be kept from changing the cells once more. */
  readonly isWorkbook: boolean;
  /** Of the file, when each row is to say from which one it is. */
  readonly sha256: string | undefined;
  /** Whether any row is one that the file has twice. */
  readonly hasRepeats: boolean;
  /** The language of the headings that are added; without it, they are names. */
  readonly labels?: Language | undefined;
}

export function createRejectedRows(
  { headings }: Pick<Header, 'headings'>,
  { isWorkbook, sha256, hasRepeats, labels }: RejectsOptions,
): RejectedRows {
  const width = headings.length;
  const namedWidth = headings.findLastIndex(({ text }) => text !== '') + 1;
  const placeOf = (column: string) => headings.findIndex(({ text }) => addedColumnOf(text) === column);
  // Where rejects are refused again, the earlier reasons are replaced.
  const [faultsAt, filesAt] = [placeOf(FAULTS_COLUMN), placeOf(FILE_COLUMN)];
  const repeatsAt = placeOf(REPEATS_COLUMN);
  const addedBefore = [faultsAt, filesAt, repeatsAt];
  const marksRepeats = hasRepeats || repeatsAt >= 0;
  const markOf = createMarks(headings);
  const ownOf = (cells: readonly string[]) => cells.filter((_, i) => !addedBefore.includes(i));
  const ownReasons = beforeReasons(addedHeading(FAULTS_COLUMN, labels));
  const identityAt = headings.findIndex(({ column }) => column === 'identity_card');

  function row({ cells, numbers }: FileRecord, reason: string, isRepeat: boolean): string[] {
    const shown = isWorkbook
      ? cells.map((cell, i) => keptAsText(cell, numbers?.has(i) === true, i === identityAt))
      : cells;
    const isComplete = isOfHeadersWidth(cells);
    const own = isComplete
      ? ownOf(Array.from({ length: width }, (_, i) => shown[i] ?? ''))
      : cellsOfAnyWidth(shown);
    const files = sha256 === undefined ? [] : [filesOf(sha256, cells[filesAt] ?? '')];
    const markBefore = isComplete ? (cells[repeatsAt] ?? '') : '';
    const mark = isRepeat ? markOf(cells) : markBefore;
    return [...own, ...files, ...(marksRepeats ? [mark] : []), isComplete ? reason : ownReasons + reason];
  }

  /** Whether a row gets all cells of the header, so that the reasons are below their heading. */
  function isOfHeadersWidth(cells: readonly string[]): boolean {
    const mayBeLonger = isWorkbook || namedWidth < width || cells.length <= width;
    return (
      mayBeLonger && cells.length >= namedWidth && cells.slice(width).every((cell) => cell.trim() === '')
    );
  }

  /** The own cells of another row: filled up, it could be read with values in wrong columns. */
  function cellsOfAnyWidth(cells: readonly string[]): readonly string[] {
    const hasReasons = faultsAt >= 0 && REASONS.some((each) => cells.at(-1)?.startsWith(each));
    return hasReasons ? cells.slice(0, -addedBefore.filter((place) => place >= 0).length) : cells;
  }

  const added = [
    ...(sha256 === undefined ? [] : ([FILE_COLUMN] as const)),
    ...(marksRepeats ? ([REPEATS_COLUMN] as const) : []),
    FAULTS_COLUMN,
  ] as const;
  return {
    header: (cells) => [...ownOf(cells), ...added.map((column) => addedHeading(column, labels))],
    row,
  };
}

/** Excel makes numbers of long digits and of leading zeros, unless a formula says that they are text. */
function keptAsText(cell: string, isNumber: boolean, isIdentityCard: boolean): string {
  if (!isNumber) return /^(?:0\d+|\d{12,})$/.test(cell) ? `="${cell}"` : cell;
  // What lost digits as a number must not look like one that has them all.
  return isIdentityCard && /^\d{12,}$/.test(cell) ? Number(cell).toExponential().toUpperCase() : cell;
}
