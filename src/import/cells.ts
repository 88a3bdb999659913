/** Cells as spreadsheets write them → values of the registry (docs/operating.md#what-spreadsheets-do). */
import { FUTURE_ERROR, formatDate, parseDate, parseDateTime, type TimeZone } from '../domain/date-time.ts';
import { type DecimalKind, parseDecimal } from '../domain/decimal.ts';
import { FieldError } from '../domain/errors.ts';
import { IDENTITY_CARD_ERROR, isIdentityCard } from '../domain/identity-card.ts';
import { GENDERS, type Gender } from '../domain/members.ts';
import { parseChoice } from '../domain/text.ts';

export interface CellContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
  /** The day of now in the zone, `YYYY-MM-DD`. */
  readonly today: string;
}

export const cellContext = (zone: TimeZone, nowSeconds: number): CellContext => ({
  zone,
  nowSeconds,
  today: formatDate(nowSeconds, zone),
});

const SPACES = /[\s\u00a0\u202f]/g;
const SCIENTIFIC = /^[0-9](?:[.,][0-9]+)?[Ee]\+?[0-9]+$/;
const SCIENTIFIC_FAULT = new FieldError(
  'A spreadsheet turned this national ID into a number and lost digits. Format the column as text and enter it again.',
);

export function readIdentityCard(cell: string): string | FieldError {
  if (isIdentityCard(cell)) return cell;
  const digits = cell.replace(SPACES, '');
  if (SCIENTIFIC.test(digits)) return SCIENTIFIC_FAULT;
  return isIdentityCard(digits) ? digits : IDENTITY_CARD_ERROR;
}

const GENDER_WORDS: { readonly [word: string]: Gender } = {
  m: 'MALE',
  male: 'MALE',
  gabo: 'MALE',
  f: 'FEMALE',
  female: 'FEMALE',
  gore: 'FEMALE',
  other: 'OTHER',
};

export function readGender(cell: string): Gender | FieldError {
  const word = cell.toLowerCase();
  return Object.hasOwn(GENDER_WORDS, word) ? (GENDER_WORDS[word] as Gender) : parseChoice(cell, GENDERS);
}

/** A choice in any letter case. */
export const readChoice =
  <T extends string>(choices: readonly T[]) =>
  (cell: string): T | FieldError => {
    const folded = cell.toLowerCase();
    return choices.find((choice) => choice.toLowerCase() === folded) ?? parseChoice(cell, choices);
  };

const DAY_FIRST = /^([0-9]{2})\/([0-9]{2})\/([0-9]{4})$/;
const ONE_DIGIT = /^[0-9]{1,2}\/[0-9]{1,2}\/[0-9]{4}$/;
const CELL_DATE_FAULT = new FieldError('Date has wrong format. Write 2024-03-31 or 31/03/2024.');
const ONE_DIGIT_FAULT = new FieldError('Write day and month with two digits: 31/03/2024.');
const CELL_DATE_TIME_FAULT = new FieldError(
  'Date has wrong format. Write 2024-03-31, 31/03/2024 or 2024-03-31T08:30:00+02:00.',
);

const isoOf = (cell: string): string => cell.replace(DAY_FIRST, '$3-$2-$1');

/** `2024-03-31`, `31/03/2024` or the day of a date-time in the registry's zone; not after today. */
export function readPastDate(cell: string, { zone, today }: CellContext): string | FieldError {
  const instant = cell.length > 10 ? parseDateTime(cell, zone) : undefined;
  const date = typeof instant === 'number' ? formatDate(instant, zone) : parseDate(isoOf(cell));
  if (date instanceof FieldError)
    return !DAY_FIRST.test(cell) && ONE_DIGIT.test(cell) ? ONE_DIGIT_FAULT : CELL_DATE_FAULT;
  return date > today ? FUTURE_ERROR : date;
}

/** Epoch seconds of a date or date-time; without an offset it is in the registry's zone. */
export function readDateTime(cell: string, { zone }: CellContext): number | FieldError {
  const instant = parseDateTime(isoOf(cell), zone);
  if (typeof instant === 'number') return instant;
  return !DAY_FIRST.test(cell) && ONE_DIGIT.test(cell) ? ONE_DIGIT_FAULT : CELL_DATE_TIME_FAULT;
}

export function readPastDateTime(cell: string, context: CellContext): number | FieldError {
  const instant = readDateTime(cell, context);
  return typeof instant === 'number' && instant > context.nowSeconds ? FUTURE_ERROR : instant;
}

const PLAIN = /^-?[0-9]+(?:\.[0-9]+)?$/;
const COMMA_GROUPS = /^[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;
const SPACE_GROUPS = /^[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?:\.[0-9]+)?$/;
const ONE_COMMA_GROUP = /^[0-9]{1,3},[0-9]{3}$/;
const AMBIGUOUS_FAULT = new FieldError(
  'It is unclear whether the comma separates thousands or decimals. Write 12500 or 12.500.',
);
const DECIMAL_COMMA_FAULT = new FieldError(
  'This is a decimal comma. Write a point before the decimals: 1250.50.',
);

/**
 * Minor units of an amount with or without separated thousands. `12,500` is ambiguous where three decimals may
 * be meant, as in kilograms; in money it can only be thousands.
 */
export const readDecimal =
  (kind: DecimalKind) =>
  (cell: string): number | FieldError => {
    if (PLAIN.test(cell)) return parseDecimal(cell, kind);
    if (kind.fractionDigits >= 3 && ONE_COMMA_GROUP.test(cell)) return AMBIGUOUS_FAULT;
    if (COMMA_GROUPS.test(cell)) return parseDecimal(cell.replaceAll(',', ''), kind);
    if (SPACE_GROUPS.test(cell)) return parseDecimal(cell.replace(SPACES, ''), kind);
    return cell.includes(',') ? DECIMAL_COMMA_FAULT : parseDecimal(cell, kind);
  };
