/** Bodies of POST, PUT and PATCH: declared fields, checked together, every fault reported at once. */
import { FieldError, FieldErrorList, NON_FIELD_ERRORS, shownName } from '../../domain/values/errors.ts';
import { exampleOf } from '../../json/example.ts';
import type { FieldContext, FieldKind } from '../../json/fields.ts';
import { deprecationKeywords, nullable, objectWith, type Schema } from '../../json/schema.ts';

export interface BodyField extends FieldKind<unknown> {
  /** In the body. */
  readonly name: string;
  readonly presence: 'required' | 'nullable' | 'default';
  /** What an omitted field becomes; undefined where that depends on more than the body. */
  readonly fallback?: string | number;
}

declare const BODY: unique symbol;

/** What a route takes in its body. `Body` is the type of its checked values. */
export interface BodyDeclaration<Body = unknown> {
  /** Its name in OpenAPI. */
  readonly title: string;
  /** By the names of their values in code. */
  readonly fields: { readonly [property: string]: BodyField };
  /** Fields that responses of the resource carry, accepted and ignored. */
  readonly readOnly?: readonly string[];
  /** Sets of fields of which one must be given, where no single field is required. */
  readonly oneOf?: readonly (readonly string[])[];
  /** A JSON merge patch (RFC 7396): what it leaves out stays as it is. */
  readonly isPatch?: boolean;
  /** Of PUT: the body of PATCH, of which it has all fields. */
  readonly patch?: BodyDeclaration;
  /** Never present: it carries the type. */
  readonly [BODY]?: Body;
}

/** The media types that a body may have. */
export const mediaTypesOf = ({ isPatch }: Pick<BodyDeclaration, 'isPatch'>): readonly string[] =>
  isPatch === true ? ['application/json', 'application/merge-patch+json'] : ['application/json'];

const REQUIRED = 'This field is required.';
const NOT_NULL = 'This field may not be null.';

/**
 * Checks a parsed JSON body against its fields. The values of invalid fields are missing: check for faults
 * before using them. So are those of fields that PATCH leaves out, and optional ones that PUT leaves out:
 * they keep what is stored. Those that POST leaves out are null, the fallback or undefined.
 * @throws RegistryError `invalid` when the body is not an object
 */
export function parseBody<Body>(
  { fields, readOnly = [], isPatch = false, patch }: BodyDeclaration<Body>,
  body: unknown,
  context: FieldContext,
): { values: Partial<Body>; faults: FieldErrorList } {
  const faults = new FieldErrorList();
  const given = asObject(body, faults);
  faults.throwIfAny();
  const values: { [property: string]: unknown } = {};
  const known = new Set(readOnly);
  for (const [property, field] of Object.entries(fields)) {
    const { name } = field;
    known.add(name);
    const isGiven = Object.hasOwn(given, name);
    if (!isGiven && (isPatch || (patch !== undefined && field.presence !== 'required'))) continue;
    const parsed = parseField(field, isGiven ? given[name] : undefined, context);
    if (parsed instanceof FieldError) faults.add(name, parsed.message);
    else values[property] = parsed;
  }
  for (const name of Object.keys(given)) if (!known.has(name)) faults.add(shownName(name), 'Unknown field.');
  return { values: values as Partial<Body>, faults };
}

function parseField(field: BodyField, value: unknown, context: FieldContext): unknown {
  if (value === undefined) {
    if (field.presence === 'required') return new FieldError(REQUIRED);
    return field.presence === 'nullable' ? null : field.fallback;
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
export function bodySchema({ title, fields, readOnly = [], oneOf, isPatch, patch }: BodyDeclaration): Schema {
  const declared = Object.values(fields);
  const isRequired = ({ presence }: BodyField) => presence === 'required' && isPatch !== true;
  const required = declared.filter(isRequired).map(({ name }) => name);
  const ofWhichOne = oneOf === undefined ? {} : { anyOf: oneOf.map((names) => ({ required: names })) };
  const withDefault = ({ fallback }: BodyField, schema: Schema): Schema =>
    fallback === undefined ? schema : { ...schema, default: fallback };
  if (patch !== undefined) return { title, type: 'object', allOf: [bodySchema(patch)], required };
  const properties = declared.map((field): [string, Schema] => {
    const own = field.bodySchema ?? field.schema;
    const schema = withDefault(field, field.presence === 'nullable' ? nullable(own) : own);
    return [field.name, { ...schema, ...deprecationKeywords(field.deprecated) }];
  });
  const ignored = readOnly.map((name): [string, Schema] => [name, IGNORED]);
  const all = Object.fromEntries([...properties, ...ignored]);
  return { ...objectWith(all, required, { title }), additionalProperties: false, ...ofWhichOne };
}

/** A body that gives every field; of a patch, which changes some, the status. */
export function exampleOfBody({ fields, isPatch }: BodyDeclaration): { readonly [name: string]: unknown } {
  const all = Object.values(fields).map(({ name, schema }) => [name, exampleOf(schema)] as const);
  const changed = all.filter(([name]) => name === 'status');
  return Object.fromEntries(isPatch === true && changed.length > 0 ? changed : all);
}

const IGNORED: Schema = {
  title: 'Ignored',
  readOnly: true,
  description: 'Accepted as GET gives it, and ignored.',
};
