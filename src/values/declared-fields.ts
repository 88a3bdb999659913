/**
 * Declarations of fields. A field's type, column in files, bodies, responses, schemas, history, events, and
 * its handling in merges and erasures all follow from its declaration; its column in a table is made by a
 * migration (CONTRIBUTING.md#add-a-field).
 */

import { parseDate } from './date-time.ts';
import type { DecimalKind } from './decimal.ts';
import type { FieldMessages } from './errors.ts';
import type { Message } from './message.ts';

// Deprecations: features that clients should stop using (docs/api.md#versions)

export interface Deprecation {
  /** `YYYY-MM-DD`, from midnight in UTC, as for the sunset. */
  readonly since: string;
  /** `YYYY-MM-DD` of the possible end, at least six months after `since`. */
  readonly sunset: string;
  /** Absolute URL of the page that names the replacement. */
  readonly link: string;
}

const NOTICE_MONTHS = 6;

/** @throws Error for an invalid date or link, and for a sunset within six months */
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

/** The kind of a value. Each layer has one table that maps kinds to their handling. */
export type ValueKind =
  | {
      readonly kind: 'text';
      /** Characters. */
      readonly maxLength: number;
    }
  | { readonly kind: 'cooperative_code' | 'identity_card' | 'mobile' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** `YYYY-MM-DD`, not after today in the registry's zone. */
  | { readonly kind: 'past_date' }
  /** Epoch seconds; a past one is not after now. */
  | { readonly kind: 'instant' | 'past_instant' }
  /** Minor units, or grams. */
  | { readonly kind: 'decimal'; readonly decimal: DecimalKind }
  /** Id of another row; in files, an identifier of that row for people. */
  | { readonly kind: 'reference' };

/** Groups of personal data, under which the ledger records shown data. */
export const FIELD_GROUPS = ['identity', 'contact', 'financials'] as const;
export type FieldGroup = (typeof FIELD_GROUPS)[number];

/** A field, declared under the property name of its value in code. */
export type Field = ValueKind & {
  readonly description: string;
  /** Label at the desk; also accepted as the column's heading in a file. */
  readonly label: Message;
  /** A fictitious value, in the format of responses; defaults to the example of its kind. */
  readonly example?: string;
  readonly deprecated?: Deprecation;
  /** Name in bodies, files and the history; defaults to the property name in snake case. */
  readonly name?: string;
  readonly nameInFiles?: string;
  readonly isNullable?: true;
  /** Value in a new row if the field is not given. */
  readonly initial?: string | number;
  /** True if only POST accepts the field. */
  readonly isFixed?: true;
  /** Accepted by POST, where PUT and PATCH accept more. */
  readonly whenNew?: Pick<Field, 'description' | 'example'> & { readonly choices: readonly string[] };
  /** Origin of a value that bodies do not set. */
  readonly setBy?: 'rules' | 'imports' | 'payments' | 'corrections';
  /** Group of personal data of the field. */
  readonly group?: FieldGroup;
  /** True if responses omit the field. */
  readonly isHidden?: true;
  /** True if the field identifies the stored row for a row of a file. */
  readonly isKey?: true;
  /** True if every row of a file must have the field, although requests may omit it. */
  readonly isRequiredInFiles?: true;
  /** For a nullable field: true if an empty cell of a file keeps the stored value. */
  readonly isKeptByEmptyCell?: true;
  /** True if a missing value is composed from other fields. */
  readonly isComposed?: true;
};

/** Initial value that stands for the time of the write. */
export const NOW = 'now';

/** A field of an entity that has events. */
export type RecordedField = Field & {
  /**
   * Bit in stored events; null for a field that events do not report. A field keeps its bit for ever, and a
   * new field takes the next unused bit of the entity: `EVENT_FIELDS` in events.ts lists all.
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

/** The type of a field's value as stored. */
type ValueOf<F> = KnownValue<F> | (F extends { readonly isNullable: true } ? null : never);

export type ValuesOf<Declared extends Fields> = {
  readonly [property in keyof Declared]: ValueOf<Declared[property]>;
};

type Others = { readonly setBy: 'imports' | 'payments' | 'corrections' };

/** Values decided by a write over HTTP, checked and with initial values. */
export type DecidedValues<Declared extends Fields> = {
  readonly [property in keyof Declared as Declared[property] extends Others ? never : property]: ValueOf<
    Declared[property]
  >;
};

type Kept = { readonly isFixed: true } | { readonly initial: string | number };
type Composed = { readonly isComposed: true };

/** The checked body of a request; undefined leaves the stored value as it is. */
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
  /** Name of the value in code. */
  readonly property: string;
  /** Name in bodies, files and the history. */
  readonly name: string;
  /** Column in the table. */
  readonly column: string;
};

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the declared fields with their names, in order. */
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

/** Returns faults for changes to values that no write may change. */
export function findFixed(fields: readonly NamedField[], stored: object, values: object): FieldMessages {
  const [before, after] = [stored, values] as { readonly [property: string]: unknown }[];
  const changed = fields.filter(
    ({ property, isFixed }) => isFixed === true && before?.[property] !== after?.[property],
  );
  return Object.fromEntries(changed.map(({ name }) => [name, ['This field cannot be changed.']]));
}

/** Completes the values of a request with stored values in place of undefined ones. */
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

/** A checked cell, or null for an empty one. */
export type StagedValue = string | number | null;

export interface StagedRow {
  /** Line on which the row starts; unique within a file. */
  readonly line: number;
  /**
   * One value per column of the kind, in order; null where a cell of a refused row is invalid. A delivery or
   * savings transaction with a null `reference` gets one derived from its values
   * (docs/import-reference.md#entries-without-a-reference); an entry with a null `member_code` belongs to the
   * member with the row's `identity_card`. A loan with a `paid_amount` above 0 has a `paid_until`.
   */
  readonly values: readonly StagedValue[];
  /**
   * Earlier files from which the row was refused, as `sha256:` and the first 16 digits, separated by spaces.
   * Without a reference, the row never counts as an accepted entry of one of these files.
   */
  readonly rejectedFrom?: string | undefined;
}

type Given<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

/** Removes undefined values: an absent value is not an undefined one. */
export const onlyGiven = <Values extends object>(values: Values): Given<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
