/** Stored rows as commands show them: text for people, JSON for programs. */
import type { TimeZone } from '../../domain/values/date-time.ts';
import { formatStored } from '../../import/columns/stored-values.ts';
import type { HeldRow } from '../../store/contract/journal/held-data.ts';
import { formatTable } from '../terminal/output.ts';

export const describeHeld = (row: HeldRow, zone: TimeZone): { [field: string]: string | null } =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [field, formatStored(field, value, zone)]));

/** A table with a column for each field that has a value in any row. @param rows one at least, of one kind */
export function formatHeld(rows: readonly HeldRow[], zone: TimeZone): string {
  const described = rows.map((row) => describeHeld(row, zone));
  const fields = Object.keys(described[0] ?? {}).filter((field) =>
    described.some((row) => row[field] !== null),
  );
  return formatTable(
    fields.map((field) => field.toUpperCase()),
    described.map((row) => fields.map((field) => row[field] ?? '')),
  );
}
