/** The sentences of the command as the desk says them: columns and words by their names, and no options. */
import { Message, type Text, Written } from '../../../domain/values/message.ts';
import { nameOf } from '../../page/names.ts';

/** Of columns, and of the choices that one takes. */
const NAMED: readonly string[] = ['column', 'known', 'meant'];

/** What stands in its places is that of the sentence that it replaces. */
const saying = (template: string): Message => new Message(template, {});

const NOT_A_DAY = saying('This is not a day, such as 31/03/2024.');

/** In place of a sentence by its beginning; undefined for one that says nothing at the desk. */
const INSTEAD: readonly (readonly [begins: string, says: Message | undefined])[] = [
  ['{file}: {rest} more; the rejects', saying('{rest} more: all of them are among the refused rows.')],
  ['{file}: the rejects have', saying('All of them are among the refused rows.')],
  ['{file}: {rows}: {count|it stays', saying('{rows}: {count|it stays|they stay}.')],
  ['{file}: {rest|# more value is', saying('{rest|# more value is|# more values are} kept.')],
  ['{file}: to import these values', undefined],
  [
    'Every national ID ends in 0',
    saying('Every national ID ends in 0: a spreadsheet has lost the last digit. Enter them again, as texts.'),
  ],
  ['This person was erased. --', saying('This person was erased.')],
  [
    'The column is missing. For a file of one cooperative',
    saying('The column is missing. Choose the cooperative of every row.'),
  ],
  [
    'The column is missing: member_code',
    saying('The column is missing: the member code, or the national ID.'),
  ],
  [
    'The column is missing: full_name',
    saying('The column is missing: the name, or the first name and the last name.'),
  ],
  [
    'The file has this column, and --cooperative',
    saying('The file has this column, and a value of every row was chosen too.'),
  ],
  [
    'The headings in positions {first}',
    saying('The columns {first} and {second} both mean this one. Ignore one of them.'),
  ],
  ['Date has wrong format. Use one of', NOT_A_DAY],
  ['Date has wrong format. Write 2024-03-31 or', NOT_A_DAY],
  ['Expected a date such as', NOT_A_DAY],
  [
    'Date has wrong format. Write 2024-03-31, ',
    saying('This is not a day, such as 31/03/2024, or a day and a time, such as 31/03/2024 08:30.'),
  ],
  [
    '{date} may be {one} or {other}',
    saying('{date} may be {one} or {other} {year}. Choose how dates are written.'),
  ],
  [
    'This date begins with the month.',
    saying('This date begins with the month. If all of the file do, choose that for dates.'),
  ],
  [
    'Some dates of this column begin',
    saying(
      'Some dates of this column begin with the day and others with the month. Write all of them alike.',
    ),
  ],
  [
    'Some values of this column have a',
    saying(
      'In some values of this column it is not clear what stands before decimals. ' +
        'Choose a comma or a point.',
    ),
  ],
  [
    '{found}. If the file is a newer version',
    saying(
      '{found}. If the file is a newer version of import {id}, choose that where you choose how it is ' +
        'read; if they were made besides, it is the right file.',
    ),
  ],
  ['  {rest} more; --json', saying('  {rest} more')],
  ['Several sheets may be meant', saying('Several sheets of the workbook may be meant: choose one.')],
  ['The workbook has no such sheet', saying('The workbook has no such sheet: choose another one.')],
];

const isMessage = (value: unknown): value is Message => value instanceof Message;

function inPlace(place: string, value: Message['values'][string]): Message['values'][string] {
  if (isMessage(value)) return asText(value);
  if (typeof value === 'string') return NAMED.includes(place) && value !== '' ? nameOf(value) : value;
  if (typeof value === 'number' || value instanceof Written) return value;
  return value.map((each) => (isMessage(each) ? asText(each) : NAMED.includes(place) ? nameOf(each) : each));
}

/** What stands inside another sentence is never left out. */
const asText = (message: Message): Message => {
  const said = atDesk(message);
  return said instanceof Message ? said : message;
};

/** @returns undefined where the desk has nothing to say of it */
export function atDesk(text: Text): Text | undefined {
  const template = typeof text === 'string' ? text : text.template;
  const instead = INSTEAD.find(([begins]) => template.startsWith(begins));
  if (instead !== undefined && instead[1] === undefined) return undefined;
  if (typeof text === 'string') return instead?.[1] ?? text;
  const values = Object.entries(text.values).map(([place, value]) => [place, inPlace(place, value)]);
  return new Message(instead?.[1]?.template ?? template, Object.fromEntries(values));
}
