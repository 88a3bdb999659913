/** Converts between the values of a form for one row and the row of a file. */
import { randomBytes } from 'node:crypto';
import type { Form, Visit } from '../desk/screen.ts';
import { TYPED_AGAIN } from '../registry/entries.ts';
import { FILE_COLUMNS, formatStored, type ImportKind, kindOf } from '../registry/file-columns.ts';
import { formatDate } from '../values/date-time.ts';
import type { StagedValue } from '../values/declared-fields.ts';
import type { Entering } from './entering-pages.ts';
import { askedColumns, type Texts } from './row-form.ts';

export const typedOf = ({ kind, settled }: Entering, form: Form): { [column: string]: string } =>
  Object.fromEntries(askedColumns(kind, settled).map(({ name }) => [name, form.get(name)]));

/**
 * The row as a file would have it: for a stored row, its key, the required values, and the changes; for a new
 * one, the values that were filled in.
 */
export function rowOf({ kind, settled, stored }: Entering, typed: Texts): Map<string, string> {
  const shown = stored === undefined ? {} : shownTexts(stored);
  const row = new Map(Object.entries(settled));
  for (const { name, isRequired } of askedColumns(kind, settled)) {
    const text = typed[name] ?? '';
    const isUnchanged = stored !== undefined && text === (shown[name] ?? '');
    if (isUnchanged && (isRequired || name === 'full_name')) row.set(name, stored[name] ?? '');
    else if (stored === undefined ? text !== '' || isRequired : !isUnchanged) row.set(name, text);
  }
  return row;
}

/**
 * Values as a form shows them. A date field takes a day: the time of a stored instant stays unless the day is
 * changed.
 */
export const shownTexts = (stored: Texts): Texts =>
  Object.fromEntries(
    Object.entries(stored).map(([column, text]) => {
      const kind = kindOf(column)?.kind;
      if (kind === 'instant' || kind === 'past_instant') return [column, text.slice(0, 10)];
      // 4050.000 would be read as millions where a point separates thousands.
      return [column, kind === 'decimal' ? text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : text];
    }),
  );

/** Values of a stored row, as a file would have them. @param values as stored, by field name */
export const textsOf = (
  visit: Visit,
  kind: ImportKind,
  values: { readonly [field: string]: StagedValue | undefined },
): Texts =>
  Object.fromEntries(
    FILE_COLUMNS[kind].flatMap(({ name, role, field }) => {
      const value = values[field.name];
      if (role === 'compared' || value === null || value === undefined) return [];
      return [[name, formatStored(name, value, visit.desk.config.zone) ?? '']];
    }),
  );

/** Reference for an entry that equals a stored one, but is another one. */
export const newReference = ({ now, desk }: Visit): string =>
  `${TYPED_AGAIN}${formatDate(now, desk.config.zone)}-${randomBytes(4).toString('hex').toUpperCase()}`;
