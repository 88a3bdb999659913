/**
 * Declarations of fields. Each determines the type of a field, its column in files, its use in bodies,
 * responses, schemas, history and events, and how merges and erasures treat it (CONTRIBUTING.md#add-a-field).
 */

import { parseDate } from './date-time.ts';
import type { DecimalKind } from './decimal.ts';
import type { FieldMessages } from './errors.ts';
import type { Message } from './message.ts';

// Deprecation: features that clients should stop using (docs/api.md#versions)

export interface Deprecation {
  /** Date `YYYY-MM-DD`, from midnight UTC. */
  readonly since: string;
  /** Date `YYYY-MM-DD` from which the feature may be removed. */
  readonly sunset: string;
  /** Absolute URL of the page that describes the replacement. */
  readonly link: string;
}

const NOTICE_MONTHS = 6;

/** @throws Error for an invalid date or link, or a sunset less than six months after `since` */
export function assertDeprecation(what: string, { since, sunset, link }: Deprecation): void {
  const wrong = (reason: string) => new Error(`The deprecation of ${what}: ${reason}`);
  for (const date of [since, sunset])
    if (typeof parseDate(date) !== 'string') throw wrong(`${date} is not a date such as 2027-01-31.`);
  if (!URL.canParse(link)) throw wrong(`${link} is not an absolute URL.`);
  const earliest = new Date(since);
  earliest.setUTCMonth(earliest.getUTCMonth() + NOTICE_MONTHS);
  if (new Date(sunset) < earliest)
    throw wrong(`its sunset ${sunset} is less than ${NOTICE_MONTHS} months after ${since}.`);
}

export type ValueKind =
  | { readonly kind: 'text'; readonly maxLength: number }
  | { readonly kind: 'cooperative_code' | 'identity_card' | 'mobile' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** Date `YYYY-MM-DD`, not after today in the registry's time zone. */
  | { readonly kind: 'past_date' }
  /** Instant in epoch seconds. A `past_instant` is not in the future. */
  | { readonly kind: 'instant' | 'past_instant' }
  /** Amount in minor units or grams. */
  | { readonly kind: 'decimal'; readonly decimal: DecimalKind }
  /** Id of another row. Instead of ids, files contain identifiers that people use, such as codes. */
  | { readonly kind: 'reference' };

/** Groups of personal data. The ledger records which groups an access showed. */
export const FIELD_GROUPS = ['identity', 'contact', 'financials'] as const;
export type FieldGroup = (typeof FIELD_GROUPS)[number];

export type Field = ValueKind & {
  readonly description: string;
  /** Label on the desk, also accepted as a heading in files. */
  readonly label: Message;
  /** Fictitious value in the format of responses. By default, the field has the example of its kind. */
  readonly example?: string;
  readonly deprecated?: Deprecation;
  /** Name in bodies, files and the history; by default, the property name in snake case. */
  readonly name?: string;
  readonly nameInFiles?: string;
  readonly isNullable?: true;
  /** Value in a new row if the request or file omits the field. */
  readonly initial?: string | number;
  /** True if only POST can set the field. */
  readonly isFixed?: true;
  /** Choices that POST accepts, if PUT and PATCH accept further choices. */
  readonly whenNew?: Pick<Field, 'description' | 'example'> & { readonly choices: readonly string[] };
  /** Source of the value, if request bodies cannot set the field. */
  readonly setBy?: 'rules' | 'imports' | 'payments' | 'corrections';
  readonly group?: FieldGroup;
  /** True if responses omit the field. */
  readonly isHidden?: true;
  /** True if the field identifies the stored row that a row of a file updates. */
  readonly isKey?: true;
  /** True if every row of a file must have a value, although requests may omit the field. */
  readonly isRequiredInFiles?: true;
  /** True if an empty cell of a file keeps the stored value of a nullable field, instead of clearing it. */
  readonly isKeptByEmptyCell?: true;
  /** True if a missing value is composed from other fields. */
  readonly isComposed?: true;
};

/** Placeholder in `initial` for the time of the write. */
export const NOW = 'now';

export type RecordedField = Field & {
  /**
   * Bit of the field in stored events; null if events do not report the field. A bit is never reused: a new
   * field takes the next unused bit of its entity. `EVENT_FIELDS` lists all bits.
   */
  readonly eventBit: number | null;
};

export interface Fields {
  readonly [property: string]: Field;
}

type Kind = ValueKind['kind'];
type NumberKind = Extract<Kind, 'instant' | 'past_instant' | 'decimal' | 'reference'>;

type KnownValue<F> = F extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : F extends { readonly kind: NumberKind }
    ? number
    : string;

type ValueOf<F> = KnownValue<F> | (F extends { readonly isNullable: true } ? null : never);

export type ValuesOf<Declared extends Fields> = {
  readonly [property in keyof Declared]: ValueOf<Declared[property]>;
};

type Others = { readonly setBy: 'imports' | 'payments' | 'corrections' };

/** Values that a write over HTTP stores, including initial values. */
export type DecidedValues<Declared extends Fields> = {
  readonly [property in keyof Declared as Declared[property] extends Others ? never : property]: ValueOf<
    Declared[property]
  >;
};

type Kept = { readonly isFixed: true } | { readonly initial: string | number };
type Composed = { readonly isComposed: true };

/** Values of a valid request body. Undefined leaves the stored value unchanged. */
export type InputValues<Declared extends Fields> = {
  readonly [property in keyof Declared as Declared[property] extends { readonly setBy: string } | Kept
    ? never
    : property]: ValueOf<Declared[property]> | (Declared[property] extends Composed ? null : never);
} & {
  readonly [property in keyof Declared as Declared[property] extends Kept ? property : never]?:
    | ValueOf<Declared[property]>
    | undefined;
};

export type NamedField<F extends Field = Field> = F & {
  readonly property: string;
  readonly name: string;
  readonly column: string;
};

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const listFields = <F extends Field>(fields: { readonly [property: string]: F }): NamedField<F>[] =>
  Object.entries(fields).map(([property, field]) => {
    const column = toSnakeCase(property);
    return { ...field, property, name: field.name ?? column, column };
  });

/** True if requests can set the field. */
export const isGiven = ({ setBy }: Field): boolean => setBy === undefined;
/** True if writes over HTTP may change the field in a stored row. */
export const isReplaced = ({ setBy, isFixed }: Field): boolean =>
  (setBy === undefined || setBy === 'rules') && isFixed !== true;

/** Finds fixed fields whose value would change. */
export function findFixed(fields: readonly NamedField[], stored: object, values: object): FieldMessages {
  const [before, after] = [stored, values] as { readonly [property: string]: unknown }[];
  const changed = fields.filter(
    ({ property, isFixed }) => isFixed === true && before?.[property] !== after?.[property],
  );
  return Object.fromEntries(changed.map(({ name }) => [name, ['This field cannot be changed.']]));
}

/** Replaces undefined values of a request with the stored values. */
export function completeValues<Declared extends Fields>(
  fields: Declared,
  bodyValues: Partial<InputValues<Declared>>,
  stored: DecidedValues<Declared>,
): DecidedValues<Declared> {
  const [values, before] = [bodyValues, stored] as { readonly [property: string]: unknown }[];
  return Object.fromEntries(
    listFields(fields)
      .filter(isGiven)
      .map(({ property }) => [
        property,
        values?.[property] === undefined ? before?.[property] : values[property],
      ]),
  ) as DecidedValues<Declared>;
}

/** Parsed cell; null if the cell is empty. */
export type StagedValue = string | number | null;

export interface StagedRow {
  /** First line of the row, unique within a file. */
  readonly line: number;
  /**
   * Values in the order of the columns of the row's kind. The value is null for an empty cell, and for an
   * invalid cell of a refused row. A delivery or savings transaction without `reference` gets a reference
   * derived from its values (docs/import-reference.md#entries-without-a-reference). An entry without
   * `member_code` belongs to the member with the row's `identity_card`. A loan with a `paid_amount` above 0
   * has a `paid_until`.
   */
  readonly values: readonly StagedValue[];
  /**
   * Earlier files from which the row was rejected, separated by spaces: for each, `sha256:` and the first 16
   * digits of the hash. If the row has no reference, it matches no entry that these files created.
   */
  readonly rejectedFrom?: string | undefined;
}

type Given<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

/** Removes properties whose value is undefined. */
export const onlyGiven = <Values extends object>(values: Values): Given<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
