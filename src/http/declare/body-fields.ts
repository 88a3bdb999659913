/** Bodies of POST, PUT and PATCH: declared fields, checked together, every fault reported at once. */
import { FieldError, FieldErrorList, NON_FIELD_ERRORS, shownName } from '../../domain/values/errors.ts';
import type { FieldContext, FieldKind } from '../../json/fields.ts';
import { nullable, objectWith, type Schema } from '../../json/schema.ts';

export interface BodyField<T> extends FieldKind<T> {
  readonly presence: 'required' | 'nullable' | 'default';
  /** What an omitted field becomes, for OpenAPI. */
  readonly fallback?: T;
}

/** What a route takes in its body. */
export interface BodyDeclaration<Fields extends BodyFields = BodyFields> {
  /** Its name in OpenAPI. */
  readonly title: string;
  readonly fields: Fields;
  /** Fields that responses of the resource carry, accepted and ignored. */
  readonly readOnly?: readonly string[];
  /** Sets of fields of which one must be given, where no single field is required. */
  readonly oneOf?: readonly (readonly string[])[];
  /** A JSON merge patch (RFC 7396): what it leaves out stays as it is. */
  readonly isPatch?: boolean;
  readonly example: { readonly [name: string]: unknown };
}

/** The media types that a body may have. */
export const mediaTypesOf = ({ isPatch }: Pick<BodyDeclaration, 'isPatch'>): readonly string[] =>
  isPatch === true ? ['application/json', 'application/merge-patch+json'] : ['application/json'];

/** The same fields for PATCH. @param example of a patch */
export const patchOf = <Fields extends BodyFields>(
  { fields, readOnly = [] }: BodyDeclaration<Fields>,
  title: string,
  example: BodyDeclaration['example'],
): BodyDeclaration<Fields> => ({ title, fields, readOnly, isPatch: true, example });

export interface BodyFields {
  readonly [name: string]: BodyField<unknown>;
}

/** Must be given. */
export const required = <Kind extends FieldKind<unknown>>(kind: Kind) => ({
  ...kind,
  presence: 'required' as const,
});
/** Null when it is omitted. */
export const optional = <Kind extends FieldKind<unknown>>(kind: Kind) => ({
  ...kind,
  presence: 'nullable' as const,
});
/** Undefined when it is omitted; null is refused. The handler knows the default, the schema shows it. */
export const defaulting = <Kind extends FieldKind<unknown>>(kind: Kind, fallback?: KindValue<Kind>) => ({
  ...kind,
  presence: 'default' as const,
  ...(fallback === undefined ? {} : { fallback }),
});

type KindValue<Kind> = Kind extends FieldKind<infer T> ? T : never;

type ValueOf<F> =
  F extends FieldKind<infer T>
    ? F extends { presence: 'nullable' }
      ? T | null
      : F extends { presence: 'default' }
        ? T | undefined
        : T
    : never;

export type ParsedBody<Fields extends BodyFields> = { [Name in keyof Fields]: ValueOf<Fields[Name]> };

const REQUIRED = 'This field is required.';
const NOT_NULL = 'This field may not be null.';

/**
 * Checks a parsed JSON body against its fields. The values of invalid fields are undefined: check for
 * faults before using them. Those of fields that a patch leaves out are missing.
 * @throws RegistryError `invalid` when the body is not an object
 */
export function parseBody<Fields extends BodyFields>(
  { fields, readOnly = [], isPatch = false }: BodyDeclaration<Fields>,
  body: unknown,
  context: FieldContext,
): { values: Partial<ParsedBody<Fields>>; faults: FieldErrorList } {
  const faults = new FieldErrorList();
  const given = asObject(body, faults);
  faults.throwIfAny();
  const values: { [name: string]: unknown } = {};
  for (const [name, field] of Object.entries(fields)) {
    const isGiven = Object.hasOwn(given, name);
    if (isPatch && !isGiven) continue;
    const parsed = parseField(field, isGiven ? given[name] : undefined, context);
    if (parsed instanceof FieldError) faults.add(name, parsed.message);
    else values[name] = parsed;
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(fields, name) && !readOnly.includes(name)) {
      faults.add(shownName(name), 'Unknown field.');
    }
  }
  return { values: values as Partial<ParsedBody<Fields>>, faults };
}

function parseField(field: BodyField<unknown>, value: unknown, context: FieldContext): unknown {
  if (value === undefined) {
    if (field.presence === 'required') return new FieldError(REQUIRED);
    return field.presence === 'nullable' ? null : undefined;
  }
  if (value === null) return field.presence === 'nullable' ? null : new FieldError(NOT_NULL);
  return field.parse(value, context);
}

function asObject(body: unknown, faults: FieldErrorList): { [name: string]: unknown } {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as { [name: string]: unknown };
  faults.add(
    NON_FIELD_ERRORS,
    body === null ? 'No data provided' : `Invalid data. Expected a dictionary, but got ${typeName(body)}.`,
  );
  return {};
}

/** The type's name in DRF's words. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  return Number.isInteger(value) ? 'int' : 'float';
}

/** The JSON schema of a body. */
export function bodySchema({ title, fields, readOnly = [], oneOf, isPatch }: BodyDeclaration): Schema {
  const properties = Object.entries(fields).map(([name, field]): [string, Schema] => {
    const own = field.bodySchema ?? field.schema;
    const schema = field.presence === 'nullable' ? nullable(own) : own;
    const hasDefault = field.fallback !== undefined && isPatch !== true;
    return [name, hasDefault ? { ...schema, default: field.fallback } : schema];
  });
  const ignored = readOnly.map((name): [string, Schema] => [name, IGNORED]);
  const required = Object.keys(fields).filter(
    (name) => fields[name]?.presence === 'required' && isPatch !== true,
  );
  return {
    ...objectWith(Object.fromEntries([...properties, ...ignored]), required, { title }),
    ...(oneOf === undefined ? {} : { anyOf: oneOf.map((names) => ({ required: names })) }),
  };
}

const IGNORED: Schema = { readOnly: true, description: 'Accepted as GET gives it, and ignored.' };
