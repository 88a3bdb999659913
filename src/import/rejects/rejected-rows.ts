/** A row as it was delivered → the row of the rejects, which is read again as the original was. */

import type { FileRecord } from '../formats/source/records.ts';
import { filesOf } from '../table/file-column.ts';
import type { Header } from '../table/header.ts';
import { FAULTS_COLUMN, FILE_COLUMN } from '../table/headings.ts';

export interface RejectedRows {
  /** The own headings of the file and that of the reasons. */
  header(cells: readonly string[]): string[];
  row(record: FileRecord, reason: string): string[];
}

export interface RejectsOptions {
  /** Whether spreadsheets must be kept from changing the cells once more. */
  readonly isWorkbook: boolean;
  /** Of the file, when each row is to say from which one it is. */
  readonly sha256: string | undefined;
}

export function createRejectedRows(
  { headings }: Pick<Header, 'headings'>,
  { isWorkbook, sha256 }: RejectsOptions,
): RejectedRows {
  const width = headings.length;
  const namedWidth = headings.findLastIndex(({ text }) => text !== '') + 1;
  const placeOf = (column: string) => headings.findIndex(({ text }) => text.toLowerCase() === column);
  // Where rejects are refused again, the earlier reasons are replaced.
  const [faultsAt, filesAt] = [placeOf(FAULTS_COLUMN), placeOf(FILE_COLUMN)];
  const ownOf = (cells: readonly string[]) => cells.filter((_, i) => i !== faultsAt && i !== filesAt);
  const identityAt = headings.findIndex(({ column }) => column === 'identity_card');

  function row({ cells, numbers }: FileRecord, reason: string): string[] {
    const shown = isWorkbook
      ? cells.map((cell, i) => keptAsText(cell, numbers?.has(i) === true, i === identityAt))
      : cells;
    const own = ownCells(shown);
    return sha256 === undefined ? [...own, reason] : [...own, filesOf(sha256, cells[filesAt] ?? ''), reason];
  }

  /**
   * A row of the header's width has all of them, so that the reasons are below their heading. One with too
   * many or too few cells keeps these: filled up it could be read, with values in wrong columns.
   */
  function ownCells(cells: readonly string[]): readonly string[] {
    const mayBeLonger = isWorkbook || namedWidth < width || cells.length <= width;
    const isComplete =
      mayBeLonger && cells.length >= namedWidth && cells.slice(width).every((cell) => cell.trim() === '');
    if (isComplete) return ownOf(Array.from({ length: width }, (_, i) => cells[i] ?? ''));
    const hasReason = faultsAt >= 0 && /Expected \d+ cells, found \d+\./.test(cells.at(-1) ?? '');
    return hasReason ? cells.slice(0, filesAt >= 0 ? -2 : -1) : cells;
  }

  const added = sha256 === undefined ? [FAULTS_COLUMN] : [FILE_COLUMN, FAULTS_COLUMN];
  return { header: (cells) => [...ownOf(cells), ...added], row };
}

/** Excel makes numbers of long digits and of leading zeros, unless a formula says that they are text. */
function keptAsText(cell: string, isNumber: boolean, isIdentityCard: boolean): string {
  if (!isNumber) return /^(?:0\d+|\d{12,})$/.test(cell) ? `="${cell}"` : cell;
  // What lost digits as a number must not look like one that has them all.
  return isIdentityCard && /^\d{12,}$/.test(cell) ? Number(cell).toExponential().toUpperCase() : cell;
}
