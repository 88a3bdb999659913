/** Changes and their actors as commands show them: text for people, JSON for programs. */

import { formatActor } from '../../app/wording/actors.ts';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { formatStored } from '../../import/columns/stored-values.ts';
import type { HistoryEntry, RowHistory } from '../../store/contract/journal/history.ts';
import { formatTable } from '../terminal/output.ts';

/** A change with its values as the API shows them. */
export interface ShownChange {
  /** Null for a correction, which has no file. */
  readonly line: number | null;
  readonly row: string;
  readonly column: string;
  readonly old: string | null;
  readonly new: string | null;
}

/** A change on the screen, without national IDs. */
export function formatChange({ line, row, column, old, new: value }: ShownChange): string {
  const show = (text: string | null) => hideIdentityCards(text ?? '(empty)');
  const place = `${line === null ? '' : `line ${line}, `}${hideIdentityCards(row)}, ${column}`;
  // That a row was removed has no value.
  return old === null && value === null ? `${place}\n` : `${place}: ${show(old)} → ${show(value)}\n`;
}

export const describeEntry = ({ field, old, new: value, at, actor, user }: HistoryEntry, zone: TimeZone) => ({
  field,
  old: formatStored(field, old, zone),
  new: formatStored(field, value, zone),
  at: formatDateTime(at, zone),
  actor,
  user,
});

/** The name of the row, and a line for each entry. */
export function formatHistory({ id, name, entries }: RowHistory, zone: TimeZone): string {
  const rows = entries.map((entry) => {
    const { field, old, new: value, at, actor, user } = describeEntry(entry, zone);
    return [at, field, old ?? '', value ?? '', String(formatActor(actor, user))];
  });
  return `${name} (id ${id})\n${formatTable(['AT', 'FIELD', 'OLD', 'NEW', 'BY'], rows)}`;
}
