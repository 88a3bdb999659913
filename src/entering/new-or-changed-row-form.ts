/** Form for one row, made from the declarations of its columns. Converts the form to a row. */

import { randomBytes } from 'node:crypto';
import { type InputOptions, input, numberInput, select } from '../desk/parts.ts';
import type { Form, Visit } from '../desk/screen.ts';
import { asTextCell } from '../formats/spreadsheet-cells-and-empty-words.ts';
import type { RowFault } from '../import/import-entered-row.ts';
import { atDesk } from '../import/pages/findings.ts';
import { untilEndOf } from '../import/reading/dates.ts';
import { TYPED_AGAIN } from '../registry/entries.ts';
import {
  FILE_COLUMNS,
  type FileColumn,
  formatStored,
  type ImportKind,
  kindOf,
} from '../registry/file-columns.ts';
import { nameOf } from '../registry/pages/show-stored-values.ts';
import { formatDate } from '../values/date-time.ts';
import { RATE } from '../values/decimal.ts';
import type { StagedValue } from '../values/declared-fields.ts';
import { type Html, html } from '../values/html.ts';
import { asMessage, type Message, say, type Text } from '../values/message.ts';

export type Texts = { readonly [column: string]: string };

export interface FormRow {
  readonly kind: ImportKind;
  /** Values of columns without fields in the form: the owner, and the key of a stored row. */
  readonly settled: Texts;
  /** Values of a stored row in the format of import files. */
  readonly stored?: Texts;
  /** Returns suggestions for free-text columns. */
  readonly proposed?: () => { readonly [column: string]: readonly string[] };
}

/** Replacements for messages that mention files, by the beginning of the message. */
const REPLACEMENTS: readonly (readonly [beginning: string, message: Message])[] = [
  ['There is no member with the code', say('The cooperative has no member with this code.')],
  ['There is no member with this code', say('The cooperative has no member with this code.')],
  ['There is no loan with', say('The cooperative has no loan with this reference.')],
];

/** Translates a message of an import for a user who has typed the row. */
export function sayAtDesk(visit: Visit, text: Text): string {
  const [, message] =
    REPLACEMENTS.find(([beginning]) => asMessage(text).template.startsWith(beginning)) ?? [];
  return visit.translate(message ?? atDesk(text) ?? text);
}

const askedColumns = ({ kind, settled }: FormRow): FileColumn[] =>
  FILE_COLUMNS[kind].filter(
    ({ name, role }) =>
      role !== 'compared' &&
      !Object.hasOwn(settled, name) &&
      // The forms of entries have no field for a national ID. In files, an ID may replace the member code.
      (kind === 'members' || name !== 'identity_card'),
  );

/** Columns that are required at the desk but optional in files. */
const NEEDED: readonly string[] = ['full_name', 'member_code'];

export const labelOf = ({ translate }: Visit, { name, role, field }: FileColumn): string =>
  translate(role === 'owner' ? nameOf(name) : field.label);

export function rowFields(visit: Visit, row: FormRow, texts: Texts, faults: readonly RowFault[]): Html {
  const columns = askedColumns(row);
  const proposals = row.proposed?.() ?? {};
  // The first field with an error gets the focus, or else the first empty field.
  const first =
    columns.find(({ name }) => faults.some(({ column }) => column === name)) ??
    columns.find(({ name }) => !texts[name]);
  return html`${columns.map((column) => {
    const { name } = column;
    const fault = faults.find((candidate) => candidate.column === name);
    return oneField(visit, column, {
      value: texts[name] ?? '',
      fault: fault && sayAtDesk(visit, fault.message),
      proposed: proposals[name]?.map((value) => [value, '']),
      isFirst: column === first || undefined,
    });
  })}`;
}

function oneField(
  visit: Visit,
  column: FileColumn,
  { proposed, ...field }: Omit<InputOptions, 'name' | 'label'>,
): Html {
  const { say, translate } = visit;
  const { name, field: declared } = column;
  const isRequired = column.isRequired || NEEDED.includes(name);
  const label = isRequired
    ? labelOf(visit, column)
    : say('{field} (if known)', { field: labelOf(visit, column) });
  const options: InputOptions = { ...field, name, label, ...(isRequired ? {} : { isOptional: true }) };
  switch (declared.kind) {
    case 'choice': {
      const { initial } = declared;
      const words = declared.choices.map((choice) => [choice, translate(nameOf(choice))] as const);
      const choices = isRequired || initial !== undefined ? words : [['', '–'] as const, ...words];
      const chosen = field.value || (initial === undefined ? undefined : String(initial));
      return select(name, label, choices, { chosen, fault: field.fault });
    }
    case 'past_date':
    case 'past_instant':
      return input({ ...options, type: 'date', max: formatDate(visit.now, visit.desk.storage.zone) });
    case 'instant':
      return input({ ...options, type: 'date' });
    case 'decimal':
      return input({
        ...options,
        isNumeric: true,
        ...(declared.decimal === RATE && { hint: say('In per cent, such as 18') }),
      });
    case 'identity_card':
      return numberInput(visit, options);
    case 'mobile':
      return input({ ...options, maxLength: 20, hint: say('Such as 078… or +250 78…') });
    case 'text':
      return input({ ...options, maxLength: declared.maxLength, proposed });
    default:
      return input({ ...options, maxLength: 32 });
  }
}

/** Returns the messages of faults in columns that have no field in the form. */
export function otherFaults(visit: Visit, row: FormRow, faults: readonly RowFault[]): string[] {
  const columns = askedColumns(row).map(({ name }) => name);
  return faults
    .filter(({ column }) => !columns.includes(column))
    .map(({ message }) => sayAtDesk(visit, message));
}

export const submittedTexts = (row: FormRow, form: Form): { [column: string]: string } =>
  Object.fromEntries(askedColumns(row).map(({ name }) => [name, form.get(name)]));

/**
 * Returns the row in the format of import files. A new row has the required and the filled-in values. A
 * stored row has its key, the required values and the changed values. If a day is unchanged, the stored time
 * stays. A stored text such as `-` is marked as a text, because in a file it would mean a missing value.
 * @param today `YYYY-MM-DD`
 */
export function rowOf(row: FormRow, texts: Texts, today: string): Map<string, string> {
  const { settled, stored } = row;
  const before = stored === undefined ? {} : formTexts(stored);
  const values = new Map(Object.entries(settled).map(([name, text]) => [name, asTextCell(text)]));
  for (const { name, isRequired } of askedColumns(row)) {
    const typed = texts[name] ?? '';
    const isUnchanged = stored !== undefined && typed === (before[name] ?? '');
    const text = name === 'paid_until' ? untilEndOf(typed, today) : typed;
    if (isUnchanged && (isRequired || name === 'full_name')) values.set(name, asTextCell(stored[name] ?? ''));
    else if (stored === undefined ? text !== '' || isRequired : !isUnchanged) values.set(name, text);
    // Otherwise a changed paid amount would include payments until the time of the import.
    else if (name === 'paid_until' && stored?.paid_until && values.has('paid_amount'))
      values.set(name, stored.paid_until);
  }
  return values;
}

/** Converts values of import files to values of form fields. Dates lose their times. */
export const formTexts = (stored: Texts): Texts =>
  Object.fromEntries(
    Object.entries(stored).map(([column, text]) => {
      const kind = kindOf(column)?.kind;
      if (kind === 'instant' || kind === 'past_instant') return [column, text.slice(0, 10)];
      // Removes trailing zeros: a clerk for whom a point separates thousands could read 4050.000 as millions.
      return [column, kind === 'decimal' ? text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : text];
    }),
  );

/** Converts a stored row to the format of import files. */
export const textsOf = (
  visit: Visit,
  kind: ImportKind,
  values: { readonly [field: string]: StagedValue | undefined },
): Texts =>
  Object.fromEntries(
    FILE_COLUMNS[kind].flatMap(({ name, role, field }) => {
      const value = values[field.name];
      if (role === 'compared' || value === null || value === undefined) return [];
      return [[name, formatStored(name, value, visit.desk.storage.zone) ?? '']];
    }),
  );

/** Returns a reference for a new entry whose values equal those of a stored entry. */
export const newReference = ({ now, desk }: Visit): string =>
  `${TYPED_AGAIN}${formatDate(now, desk.storage.zone)}-${randomBytes(4).toString('hex').toUpperCase()}`;
