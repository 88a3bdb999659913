/**
 * What the declaration of a field says. Its type, its column in files, bodies, responses, schemas, history,
 * events, and what a merge and an erasure do with it follow from this; its column in a table is made by a
 * migration (CONTRIBUTING.md#add-a-field).
 */
import type { DecimalKind } from './decimal.ts';
import type { Deprecation } from './deprecation.ts';
import type { FieldMessages } from './errors.ts';
import type { Message } from './message.ts';

/** What a value is. The layers have one table each of what they do with a value of each kind. */
export type ValueKind =
  | {
      readonly kind: 'text';
      /** In characters. */
      readonly maxLength: number;
    }
  | { readonly kind: 'cooperative_code' | 'identity_card' | 'mobile' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** `YYYY-MM-DD`, not after today in the registry's zone. */
  | { readonly kind: 'past_date' }
  /** Epoch seconds; a past one is not after now. */
  | { readonly kind: 'instant' | 'past_instant' }
  /** In minor units or grams. */
  | { readonly kind: 'decimal'; readonly decimal: DecimalKind }
  /** The id of another row. Files name that row by what people call it. */
  | { readonly kind: 'reference' };

/** Groups of personal data, as the access ledger names what was shown. */
export const FIELD_GROUPS = ['identity', 'contact', 'financials'] as const;
export type FieldGroup = (typeof FIELD_GROUPS)[number];

/** A field is declared under the name that its value has in code. */
export type Field = ValueKind & {
  readonly description: string;
  /** What people at the desk call it, and may head its column in a file with. */
  readonly label: Message;
  /** An invented value, as responses show it; without it, the example of its kind. */
  readonly example?: string;
  readonly deprecated?: Deprecation;
  /** In bodies, files and the history; else that of the value in snake case. */
  readonly name?: string;
  readonly nameInFiles?: string;
  readonly isNullable?: true;
  /** What a new row gets where the field is not given. */
  readonly initial?: string | number;
  /** Whether only POST takes it. */
  readonly isFixed?: true;
  /** What POST takes, where PUT and PATCH take more. */
  readonly whenNew?: Pick<Field, 'description' | 'example'> & { readonly choices: readonly string[] };
  /** Who sets it, where bodies do not. */
  readonly setBy?: 'rules' | 'imports' | 'payments' | 'corrections';
  /** What it says of a person. */
  readonly group?: FieldGroup;
  /** Whether responses do not have it. */
  readonly isHidden?: true;
  /** Of a row of a file: it finds the stored row. */
  readonly isKey?: true;
  /** Whether every row of a file has it, although requests need not give it. */
  readonly isRequiredInFiles?: true;
  /** Of a nullable field: whether an empty cell of a file keeps the stored value. */
  readonly isKeptByEmptyCell?: true;
  /** Whether it is made from other fields where it is not given. */
  readonly isComposed?: true;
};

/** An initial value: the time of the write. */
export const NOW = 'now';

/** A field of an entity that has events. */
export type RecordedField = Field & {
  /**
   * Its bit in stored events, which a field keeps for ever; null for one that no event names. A new field
   * takes the next unused one of the entity: `EVENT_FIELDS` in events.ts lists all.
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

/** The type of a field's value as it is stored. */
export type ValueOf<F> = KnownValue<F> | (F extends { readonly isNullable: true } ? null : never);

/** The values of all fields. */
export type ValuesOf<Declared extends Fields> = {
  readonly [property in keyof Declared]: ValueOf<Declared[property]>;
};

type Others = { readonly setBy: 'imports' | 'payments' | 'corrections' };

/** The values that a write over HTTP decides, checked and with initial values filled in. */
export type DecidedValues<Declared extends Fields> = {
  readonly [property in keyof Declared as Declared[property] extends Others ? never : property]: ValueOf<
    Declared[property]
  >;
};

type Kept = { readonly isFixed: true } | { readonly initial: string | number };
type Composed = { readonly isComposed: true };

/** The checked body of a request; an undefined value stays as it is stored. */
export type GivenValues<Declared extends Fields> = {
  readonly [property in keyof Declared as Declared[property] extends { readonly setBy: string } | Kept
    ? never
    : property]: ValueOf<Declared[property]> | (Declared[property] extends Composed ? null : never);
} & {
  readonly [property in keyof Declared as Declared[property] extends Kept ? property : never]?:
    | ValueOf<Declared[property]>
    | undefined;
};

export type NamedField<F extends Field = Field> = F & {
  /** Of its value in code. */
  readonly property: string;
  /** In bodies, files and the history. */
  readonly name: string;
  /** Of its table. */
  readonly column: string;
};

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The declared fields with their names, in their order. */
export const listFields = <F extends Field>(fields: { readonly [property: string]: F }): NamedField<F>[] =>
  Object.entries(fields).map(([property, field]) => {
    const column = toSnakeCase(property);
    return { ...field, property, name: field.name ?? column, column };
  });

/** Whether requests give it. */
export const isGiven = ({ setBy }: Field): boolean => setBy === undefined;
/** Whether writes over HTTP may change it in a stored row. */
export const isReplaced = ({ setBy, isFixed }: Field): boolean =>
  (setBy === undefined || setBy === 'rules') && isFixed !== true;

/** The faults of values that no write may change. */
export function findFixed(fields: readonly NamedField[], stored: object, values: object): FieldMessages {
  const [before, after] = [stored, values] as { readonly [property: string]: unknown }[];
  const changed = fields.filter(
    ({ property, isFixed }) => isFixed === true && before?.[property] !== after?.[property],
  );
  return Object.fromEntries(changed.map(({ name }) => [name, ['This field cannot be changed.']]));
}

/** What requests give, with the stored value in place of each that is undefined. */
export function completeValues<Declared extends Fields>(
  fields: Declared,
  given: Partial<GivenValues<Declared>>,
  stored: DecidedValues<Declared>,
): DecidedValues<Declared> {
  const [values, before] = [given, stored] as { readonly [property: string]: unknown }[];
  return Object.fromEntries(
    listFields(fields)
      .filter(isGiven)
      .map(({ property }) => [
        property,
        values?.[property] === undefined ? before?.[property] : values[property],
      ]),
  ) as DecidedValues<Declared>;
}
