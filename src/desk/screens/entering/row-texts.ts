/** What is typed in a form for one row, as a file would have it, and the other way round. */
import { randomBytes } from 'node:crypto';
import { TYPED_AGAIN } from '../../../domain/entries/entries.ts';
import { formatDate } from '../../../domain/values/date-time.ts';
import { formatStored, kindOf } from '../../../import/columns/stored-values.ts';
import { FILE_COLUMNS } from '../../../store/contract/import/import-columns.ts';
import type { ImportKind, StagedValue } from '../../../store/contract/import/import-session.ts';
import type { Form, Visit } from '../../visit/screen.ts';
import type { Entering } from './entering-pages.ts';
import { askedColumns, type Texts } from './row-form.ts';

export const typedOf = ({ kind, settled }: Entering, form: Form): { [column: string]: string } =>
  Object.fromEntries(askedColumns(kind, settled).map(({ name }) => [name, form.get(name)]));

/**
 * The row as a file would have it: of a stored one what finds it, what every row has, and what was changed;
 * of a new one what was filled in.
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

/** A date field takes a day: the time of a stored instant stays unless the day is changed. */
export const shownTexts = (stored: Texts): Texts =>
  Object.fromEntries(
    Object.entries(stored).map(([column, text]) => {
      const kind = kindOf(column)?.kind;
      if (kind === 'instant' || kind === 'past_instant') return [column, text.slice(0, 10)];
      // 4050.000 is read as millions where a point separates thousands.
      return [column, kind === 'decimal' ? text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : text];
    }),
  );

/** Of a stored row, what a file would have. @param values as stored, by the names of fields */
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

/** Of an entry that equals a stored one and is another one nevertheless. */
export const newReference = ({ now, desk }: Visit): string =>
  `${TYPED_AGAIN}${formatDate(now, desk.config.zone)}-${randomBytes(4).toString('hex').toUpperCase()}`;
