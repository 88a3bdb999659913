/** A form for one row of a kind, from the declarations of its columns. */

import { input, numberInput, select } from '../desk/parts.ts';
import type { Visit } from '../desk/screen.ts';
import type { RowFault } from '../import/enter-row.ts';
import { atDesk } from '../import/pages/findings.ts';
import { FILE_COLUMNS, type FileColumn, type ImportKind } from '../registry/file-columns.ts';
import { nameOf } from '../registry/pages/stored-values.ts';
import { formatDate } from '../values/date-time.ts';
import { RATE } from '../values/decimal.ts';
import { NOW } from '../values/declared-fields.ts';
import { type Html, html } from '../values/html.ts';
import { asMessage, type Message, say, type Text } from '../values/message.ts';

/** Texts by column name. */
export type Texts = { readonly [column: string]: string };

const MOBILE_HINT = say('Such as 078… or +250 78…');

/** Replacements of messages, by their beginnings: a user who types a row has no file to import first. */
const TYPED: readonly (readonly [begins: string, says: Message])[] = [
  ['There is no member with the code', say('The cooperative has no member with this code.')],
  ['There is no member with this code', say('The cooperative has no member with this code.')],
  ['There is no loan with', say('The cooperative has no loan with this reference.')],
];

/** Translates a message of an import, without words of its command. */
export const sayAtDesk = (visit: Visit, text: Text): string => {
  const said = TYPED.find(([begins]) => asMessage(text).template.startsWith(begins))?.[1];
  return visit.translate(said ?? atDesk(text) ?? text);
};

/** Columns that a form of the kind asks for. @param settled columns whose values the page determines */
export const askedColumns = (kind: ImportKind, settled: Texts): FileColumn[] =>
  FILE_COLUMNS[kind].filter(
    ({ name, role }) =>
      role !== 'compared' &&
      !Object.hasOwn(settled, name) &&
      // Entries name their member by the code; a national ID would do as well.
      (kind === 'members' || name !== 'identity_card'),
  );

/** Columns without which a row is incomplete, though each may be missing in a file. */
const NEEDED: readonly string[] = ['full_name', 'member_code'];

export const labelOf = ({ translate }: Visit, { name, role, field }: FileColumn): string =>
  translate(role === 'owner' ? nameOf(name) : field.label);

/** Fields with the values typed before, and their faults. */
export function rowFields(
  visit: Visit,
  { kind, settled, proposed = {} }: FormOfRow,
  typed: Texts,
  faults: readonly RowFault[] = [],
): Html {
  const today = formatDate(visit.now, visit.desk.config.zone);
  const columns = askedColumns(kind, settled);
  // The first field with a fault or, on the next line of the same paper, the first that the last line left
  // empty.
  const first =
    columns.find(({ name }) => faults.some(({ column }) => column === name)) ??
    columns.find(({ name }) => !typed[name]);
  return html`${columns.map((column) => {
    const found = faults.find((fault) => fault.column === column.name);
    const fault = found && sayAtDesk(visit, found.message);
    const known = proposed[column.name];
    const isFirst = column === first || undefined;
    return oneField(visit, column, { value: typed[column.name] ?? '', fault, today, known, isFirst });
  })}`;
}

interface FormOfRow {
  readonly kind: ImportKind;
  readonly settled: Texts;
  /** Proposed values for columns of free text. */
  readonly proposed?: { readonly [column: string]: readonly string[] } | undefined;
}

interface Asked {
  readonly known: readonly string[] | undefined;
  readonly isFirst: true | undefined;
  readonly value: string;
  readonly fault: string | undefined;
  readonly today: string;
}

function oneField(visit: Visit, column: FileColumn, { value, fault, today, known, isFirst }: Asked): Html {
  const { say, translate } = visit;
  const { name, field } = column;
  const isRequired = column.isRequired || NEEDED.includes(name);
  const label = isRequired
    ? labelOf(visit, column)
    : say('{field} (if known)', { field: labelOf(visit, column) });
  const options = {
    name,
    label,
    value,
    fault,
    isFirst,
    ...(isRequired ? {} : { isOptional: true as const }),
  };
  switch (field.kind) {
    case 'choice': {
      const initial =
        field.initial === undefined || field.initial === NOW ? undefined : String(field.initial);
      const words = field.choices.map((each) => [each, translate(nameOf(each))] as const);
      const choices = isRequired || initial !== undefined ? words : [['', '–'] as const, ...words];
      return select(name, label, choices, { chosen: value || initial, fault });
    }
    case 'past_date':
    case 'past_instant':
      return input({ ...options, type: 'date', max: today });
    case 'instant':
      return input({ ...options, type: 'date' });
    case 'decimal':
      return input({
        ...options,
        isNumeric: true,
        ...(field.decimal === RATE && { hint: say('In per cent, such as 18') }),
      });
    case 'identity_card':
      return numberInput(visit, options);
    case 'mobile':
      return input({ ...options, maxLength: 20, hint: translate(MOBILE_HINT) });
    case 'text':
      return input({ ...options, maxLength: field.maxLength, proposed: known?.map((each) => [each, '']) });
    default:
      return input({ ...options, maxLength: 32 });
  }
}

/** Faults that concern no field of the form. */
export const otherFaults = (
  visit: Visit,
  kind: ImportKind,
  settled: Texts,
  faults: readonly RowFault[],
): string[] => {
  const asked = askedColumns(kind, settled).map(({ name }) => name);
  return faults
    .filter(({ column }) => !asked.includes(column))
    .map(({ message }) => sayAtDesk(visit, message));
};
