/** Values of rows that the registry holds: `HeldRow` gives them as they are stored, by the names of files. */
import type { HeldRow } from '../../../store/ports/journal/held-data.ts';

/** Empty where there is none. */
export const textOf = (row: HeldRow, field: string): string => String(row[field] ?? '');

/** Zero where there is none. */
export const numberOf = (row: HeldRow, field: string): number => Number(row[field] ?? 0);

/** What is shown of a value that may be missing; nothing otherwise. */
export const ifGiven = <T>(row: HeldRow, field: string, shown: (value: T) => string): string | undefined =>
  row[field] === null || row[field] === undefined ? undefined : shown(row[field] as T);
