/** Parses decimal numbers as people and spreadsheets write them (docs/import-reference.md#decimals). */
import { type DecimalKind, MONEY, MONEY_OR_ZERO, parseDecimal, RATE, WEIGHT } from '../../values/decimal.ts';
import { FieldError } from '../../values/errors.ts';
import { say } from '../../values/message.ts';
import { type CellContext, type ColumnSurvey, type DecimalForm, NOT_SURVEYED } from './cell-context.ts';

const ONE_POINT_GROUP = /^[1-9][0-9]{0,2}\.[0-9]{3}$/;
const COMMA_GROUPS = /^[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;
const SPACE_GROUPS = /^[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?:\.[0-9]+)?$/;
const ONE_COMMA_GROUP = /^[0-9]{1,3},[0-9]{3}$/;
/** Matches numbers with a decimal comma, and optional points or spaces as thousands separators. */
const DECIMAL_COMMA =
  /^(?:-?[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+),[0-9]+$/;
const GROUPS_OF_COMMA_STYLE = /^[0-9]{1,3}(?:(?:\.[0-9]{3})+|(?:[ \u00a0\u202f][0-9]{3})+)$/;
const WHOLE = /^-?[0-9]+$/;
const NUMBER_SIGNS = /^[-0-9.,\s\u00a0\u202f]+$/;
const ONE_OR_TWO_DECIMALS = /,[0-9]{1,2}$/;
const GROUPING = /[,\s\u00a0\u202f]/g;
const GROUPING_OF_COMMA_STYLE = /[.\s\u00a0\u202f]/g;

const AMBIGUOUS_FAULT = new FieldError(
  'It is unclear whether the comma separates thousands or decimals. Write 12500 or 12.500.',
);
const AMBIGUOUS_POINT_FAULT = new FieldError(
  'It is unclear whether the point separates thousands or decimals. Write 12500 or 12500.00, or name the ' +
    'decimal mark in a map, "decimal": "," or ".".',
);
const DECIMAL_COMMA_FAULT = new FieldError(
  'This is a decimal comma. Write a point before the decimals: 1250.50.',
);
const COMMA_STYLE_FAULT = new FieldError(
  'The map says that decimals follow a comma. Write 1250,50 or 1.250,50.',
);

const isMoney = (kind: DecimalKind): boolean => kind === MONEY || kind === MONEY_OR_ZERO;

const FRANCS = String.raw`(?:francs?|frw|rwf|fr)\.?`;
/** Pattern of the unit that may precede or follow a number, by kind. */
const UNITS: ReadonlyMap<DecimalKind, string> = new Map([
  [WEIGHT, String.raw`(?:kilos?|kgs?)\.?`],
  [MONEY, FRANCS],
  [MONEY_OR_ZERO, FRANCS],
  [RATE, '%'],
]);
const SPACE = '[ \u00a0\u202f]?';
const STARTS_AND_ENDS_WITH_DIGIT = /^[0-9](?:.*[0-9])?$/s;

/** Returns a parser from numbers to minor units. A number may have thousands separators and a unit. */
export function readDecimal(kind: DecimalKind) {
  const unit = UNITS.get(kind);
  const around = new RegExp(`^${unit}${SPACE}|${SPACE}${unit}$`, 'i');
  return (cell: string, context: CellContext): number | FieldError => {
    const unclear = kind === RATE ? unclearShare(cell, context) : undefined;
    if (unclear !== undefined) return unclear;
    const plain = parsePlain(cell, kind);
    if (plain !== undefined && (context.isNumber || context.decimalMark !== ',' || !cell.includes('.'))) {
      if (!context.isNumber) showPoint(cell, context);
      return plain;
    }
    if (unit === undefined || STARTS_AND_ENDS_WITH_DIGIT.test(cell)) return readNumber(cell, kind, context);
    const bare = cell.replace(around, '');
    const units = readNumber(bare, kind, context);
    if (bare !== cell && typeof units === 'number') context.note('unit');
    return units;
  };
}

// Rates such as 0.18, which may be a fraction for 18 per cent

const BELOW_ONE = /^0?[.,](?<decimals>[0-9]*[1-9][0-9]*)$/;
const SIGN_AND_SPACES = /[%\s]/g;

export function collectRates(cell: string, survey: ColumnSurvey): void {
  const rate = Number(cell.replace(SIGN_AND_SPACES, '').replace(',', '.'));
  if (rate > survey.highestRate) survey.highestRate = rate;
}

/** A rate such as `0.18` is probably a fraction if the column's highest rate is this many times as high. */
const FAR_HIGHER = 10;

/**
 * Returns the fault of a rate such as `0.18` if it is probably a fraction: the column also has a far higher
 * rate of at least one per cent, or this rate has more decimals than a percentage may have, as in `0.195`.
 */
function unclearShare(cell: string, { survey }: CellContext): FieldError | undefined {
  const decimals = BELOW_ONE.exec(cell)?.groups?.decimals;
  if (decimals === undefined) return undefined;
  if (decimals.length <= RATE.fractionDigits) {
    if (survey === undefined) return NOT_SURVEYED;
    if (survey.highestRate < Math.max(1, FAR_HIGHER * Number(`0.${decimals}`))) return undefined;
  }
  const percent = String(Number(`${decimals.padEnd(2, '0').slice(0, 2)}.${decimals.slice(2)}`));
  return new FieldError(
    say(
      'It is unclear whether {rate} means {percent} per cent or less than one per cent. Write {percent} ' +
        'for the first; for the second, write at most two decimals and the sign, such as 0.50%.',
      { rate: cell, percent },
    ),
  );
}

function readNumber(cell: string, kind: DecimalKind, context: CellContext): number | FieldError {
  if (context.isNumber) return parseDecimal(cell, kind);
  if (context.decimalMark === ',') return readCommaStyle(cell, kind);
  if (cell.includes(',')) return readWithComma(cell, kind, context);
  if (context.decimalMark === undefined && isMoney(kind) && ONE_POINT_GROUP.test(cell)) {
    context.showDecimal('unclear');
    return AMBIGUOUS_POINT_FAULT;
  }
  const units = parseDecimal(SPACE_GROUPS.test(cell) ? cell.replace(GROUPING, '') : cell, kind);
  if (typeof units === 'number') showPoint(cell, context);
  return units;
}

function showPoint(cell: string, context: CellContext): void {
  const point = cell.indexOf('.');
  if (point < 0) return;
  context.showDecimal('point');
  if (point <= 3 && cell.length - point === 4) context.showDecimal('point before three');
}

const [ZERO, NINE, POINT] = [0x30, 0x39, 0x2e];

/**
 * Parses digits with at most one point, the form of most cells. This is much faster than `parseDecimal`.
 * @returns minor units; undefined for a cell of any other form, and for a number that the kind does not
 *   accept
 */
function parsePlain(cell: string, kind: DecimalKind): number | undefined {
  const { fractionDigits, integerDigits, minimum, maximum = Number.POSITIVE_INFINITY } = kind;
  const end = cell.length;
  if (end > integerDigits + 1 + fractionDigits) return undefined;
  let [units, point] = [0, end];
  for (let i = 0; i < end; i++) {
    const code = cell.charCodeAt(i);
    if (code >= ZERO && code <= NINE) units = units * 10 + code - ZERO;
    else if (code === POINT && point === end && i > 0 && i < end - 1) point = i;
    else return undefined;
  }
  const decimals = Math.max(0, end - point - 1);
  if (point > integerDigits || decimals > fractionDigits) return undefined;
  units *= 10 ** (fractionDigits - decimals);
  return units > maximum || (units === 0 && minimum === 'positive') ? undefined : units;
}

/**
 * Reads a number in which a comma separates thousands or decimals. Unless the map names the decimal mark, the
 * comma in `12,500` separates decimals in a file with semicolons between cells. In other files, it separates
 * thousands in money, but is ambiguous in weights, which may have three decimals.
 */
function readWithComma(cell: string, kind: DecimalKind, context: CellContext): number | FieldError {
  const { decimalMark, isSeparatedBySemicolons } = context;
  const isUnclear = ONE_COMMA_GROUP.test(cell) && decimalMark === undefined;
  if (isUnclear && !isSeparatedBySemicolons && kind.fractionDigits >= 3) {
    context.showDecimal('unclear');
    return AMBIGUOUS_FAULT;
  }
  const isThousands = COMMA_GROUPS.test(cell) && !(isUnclear && isSeparatedBySemicolons);
  if (isUnclear) context.showDecimal('comma before three');
  if (isThousands) {
    context.showDecimal('thousands');
    return parseDecimal(cell.replace(GROUPING, ''), kind);
  }
  const isCertain = isSeparatedBySemicolons || ONE_OR_TWO_DECIMALS.test(cell);
  // In a text with letters, the comma is not the fault.
  if (!NUMBER_SIGNS.test(cell)) return parseDecimal(cell, kind);
  if (decimalMark === '.' || !isCertain || !DECIMAL_COMMA.test(cell)) return DECIMAL_COMMA_FAULT;
  const units = readCommaStyle(cell, kind);
  if (typeof units === 'number') {
    context.showDecimal('comma');
    context.note('decimal_comma');
  }
  return units;
}

/** Returns the value of `decimal` in a map; null for ambiguous numbers, undefined if no mark is needed. */
export function decimalMarkOf(forms: ReadonlySet<DecimalForm>): ',' | null | undefined {
  if (forms.has('comma')) return forms.has('thousands') || forms.has('point') ? null : ',';
  return forms.has('unclear') ? null : undefined;
}

/** Reads a number such as `1.250,50` or `1 250,50`. Every point separates thousands. */
function readCommaStyle(cell: string, kind: DecimalKind): number | FieldError {
  const isOfStyle = WHOLE.test(cell) || DECIMAL_COMMA.test(cell) || GROUPS_OF_COMMA_STYLE.test(cell);
  if (isOfStyle) return parseDecimal(cell.replace(GROUPING_OF_COMMA_STYLE, '').replace(',', '.'), kind);
  return /[.,]/.test(cell) ? COMMA_STYLE_FAULT : parseDecimal(cell, kind);
}
