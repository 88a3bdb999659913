/** Values as they are stored → as the language of a visit writes them. */
import { type DecimalKind, RATE, WEIGHT } from '../../domain/values/decimal.ts';
import { type Html, html } from '../../html/html.ts';
import { kindOf } from '../../import/columns/stored-values.ts';
import type { StagedValue } from '../../store/contract/import/import-session.ts';
import type { RecordedImport } from '../../store/contract/journal/operations.ts';
import type { Visit } from '../visit/screen.ts';
import type { Writing } from '../visit/writing.ts';
import { nameOf } from './names.ts';

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Any value as the language of the visit writes it. @returns undefined for one that is missing */
export function writeStored(
  { write, translate }: Visit,
  field: string,
  value: StagedValue | undefined,
): string | undefined {
  if (value === null || value === undefined) return undefined;
  const declared = kindOf(field);
  if (typeof value === 'string') {
    if (declared?.kind === 'choice') return translate(nameOf(value));
    return ISO_DAY.test(value) && declared?.kind !== 'text' ? write.date(value) : value;
  }
  if (declared?.kind === 'decimal') return writeDecimal(write, declared.decimal, value);
  const isInstant = declared?.kind === 'instant' || declared?.kind === 'past_instant';
  return isInstant ? write.moment(value) : String(value);
}

/** The file of an import, the kind of a row that was typed, the reason of another correction. */
export const whatOf = ({ translate }: Visit, { kind, fileName, reason }: RecordedImport): string =>
  kind === 'row_enter' ? translate(nameOf(reason ?? '')) : fileName || (reason ?? '');

/** When an operation was undone, and by whom. @returns false while it stands */
export const writeUndone = ({ write }: Visit, { undoneAt, undoneBy }: RecordedImport): string | false =>
  undoneAt !== null && [write.moment(undoneAt), ...(undoneBy === null ? [] : [undoneBy])].join(', ');

/** The same in a list of operations. */
export function undoneMark(visit: Visit, recorded: RecordedImport): Html | false {
  const undone = writeUndone(visit, recorded);
  return undone !== false && html`<br><b>${visit.say('undone: {when}', { when: undone })}</b>`;
}

function writeDecimal(write: Writing, kind: DecimalKind, value: number): string {
  if (kind === RATE) return `${write.number(value / 100)} %`;
  return kind === WEIGHT ? write.weight(value) : write.money(value);
}
