/** A form for one row of a kind, from the declarations of its columns, and the row that it makes. */

import { randomBytes } from 'node:crypto';
import { input, numberInput, select } from '../desk/parts.ts';
import type { Form, Visit } from '../desk/screen.ts';
import type { RowFault } from '../import/enter-row.ts';
import { atDesk } from '../import/pages/findings.ts';
import { TYPED_AGAIN } from '../registry/entries.ts';
import {
  FILE_COLUMNS,
  type FileColumn,
  formatStored,
  type ImportKind,
  kindOf,
} from '../registry/file-columns.ts';
import { nameOf } from '../registry/pages/stored-values.ts';
import { formatDate } from '../values/date-time.ts';
import { RATE } from '../values/decimal.ts';
import type { StagedValue } from '../values/declared-fields.ts';
import { type Html, html } from '../values/html.ts';
import { asMessage, type Message, say, type Text } from '../values/message.ts';

/** Texts by column name. */
export type Texts = { readonly [column: string]: string };

/** The row that a form enters or changes. */
export interface FormRow {
  readonly kind: ImportKind;
  /** Values that the user cannot change here: the row's owner, or the key of a stored row. */
  readonly settled: Texts;
  /** Values of a stored row, as a file would have them. */
  readonly stored?: Texts;
  /** Proposed values for columns of free text, which are read only if the form is shown. */
  readonly proposed?: () => { readonly [column: string]: readonly string[] };
}

const MOBILE_HINT = say('Such as 078… or +250 78…');

type InputOptions = Parameters<typeof input>[0];

/** Replacements of messages, by their beginnings: a user who types a row has no file to import first. */
const REPLACEMENTS: readonly (readonly [beginning: string, message: Message])[] = [
  ['There is no member with the code', say('The cooperative has no member with this code.')],
  ['There is no member with this code', say('The cooperative has no member with this code.')],
  ['There is no loan with', say('The cooperative has no loan with this reference.')],
];

/** Translates a message of an import, without words of its command. */
export function sayAtDesk(visit: Visit, text: Text): string {
  const [, message] =
    REPLACEMENTS.find(([beginning]) => asMessage(text).template.startsWith(beginning)) ?? [];
  return visit.translate(message ?? atDesk(text) ?? text);
}

/** Columns that a form asks for. */
const askedColumns = ({ kind, settled }: FormRow): FileColumn[] =>
  FILE_COLUMNS[kind].filter(
    ({ name, role }) =>
      role !== 'compared' &&
      !Object.hasOwn(settled, name) &&
      // Entries name their member by the code; a national ID would do as well.
      (kind === 'members' || name !== 'identity_card'),
  );

/** Columns that a typed row must have, although a file may lack them. */
const NEEDED: readonly string[] = ['full_name', 'member_code'];

export const labelOf = ({ translate }: Visit, { name, role, field }: FileColumn): string =>
  translate(role === 'owner' ? nameOf(name) : field.label);

/** Fields with the values of the form before, and their faults. */
export function rowFields(visit: Visit, row: FormRow, texts: Texts, faults: readonly RowFault[]): Html {
  const columns = askedColumns(row);
  const proposals = row.proposed?.() ?? {};
  // The first field with a fault or, on the next line of the same paper, the first that the last line left
  // empty.
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
      return input({ ...options, type: 'date', max: formatDate(visit.now, visit.desk.config.zone) });
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
      return input({ ...options, maxLength: 20, hint: translate(MOBILE_HINT) });
    case 'text':
      return input({ ...options, maxLength: declared.maxLength, proposed });
    default:
      return input({ ...options, maxLength: 32 });
  }
}

/** Faults that concern no field of the form. */
export function otherFaults(visit: Visit, row: FormRow, faults: readonly RowFault[]): string[] {
  const columns = askedColumns(row).map(({ name }) => name);
  return faults
    .filter(({ column }) => !columns.includes(column))
    .map(({ message }) => sayAtDesk(visit, message));
}

export const submittedTexts = (row: FormRow, form: Form): { [column: string]: string } =>
  Object.fromEntries(askedColumns(row).map(({ name }) => [name, form.get(name)]));

/**
 * The row as a file would have it: for a stored row, its key, the required values, and the changes; for a new
 * one, the values that were filled in.
 */
export function rowOf(row: FormRow, texts: Texts): Map<string, string> {
  const { settled, stored } = row;
  const before = stored === undefined ? {} : formTexts(stored);
  const values = new Map(Object.entries(settled));
  for (const { name, isRequired } of askedColumns(row)) {
    const text = texts[name] ?? '';
    const isUnchanged = stored !== undefined && text === (before[name] ?? '');
    if (isUnchanged && (isRequired || name === 'full_name')) values.set(name, stored[name] ?? '');
    else if (stored === undefined ? text !== '' || isRequired : !isUnchanged) values.set(name, text);
  }
  return values;
}

/**
 * Values as a form shows them. A date field takes a day: the time of a stored instant stays unless the day is
 * changed.
 */
export const formTexts = (stored: Texts): Texts =>
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
