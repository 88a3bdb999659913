/** Parses bodies of POST, PUT and PATCH: declared fields, with all faults reported at once. */

import {
  type Field,
  type Fields,
  type GivenValues,
  isGiven,
  listFields,
  type NamedField,
  NOW,
} from '../../values/declared-fields.ts';
import { FieldError, FieldErrorList, NON_FIELD_ERRORS, shownName } from '../../values/errors.ts';
import { kindOf } from '../../values/field-json.ts';
import type { FieldContext, FieldKind } from '../../values/fields.ts';
import { deprecationKeywords, exampleOf, nullable, objectWith, type Schema } from '../../values/schema.ts';

interface BodyField extends FieldKind<unknown> {
  /** Name in the body. */
  readonly name: string;
  readonly presence: 'required' | 'nullable' | 'default';
  /** Value of an omitted field; undefined where it depends on more than the body. */
  readonly fallback?: string | number;
}

declare const BODY: unique symbol;

/** A route's request body. `Body` is the type of its checked values. */
export interface BodyDeclaration<Body = unknown> {
  /** Name in OpenAPI. */
  readonly title: string;
  /** Fields by the names of their values in code. */
  readonly fields: { readonly [property: string]: BodyField };
  /** Response fields of the resource, accepted and ignored in bodies. */
  readonly readOnly?: readonly string[];
  /** Sets of fields of which one must be given, where no single field is required. */
  readonly oneOf?: readonly (readonly string[])[];
  /** True for a JSON merge patch (RFC 7396): omitted fields stay as they are. */
  readonly isPatch?: boolean;
  /** For PUT: the body of PATCH, all of whose fields it has. */
  readonly patch?: BodyDeclaration;
  /** Never present: it carries the type. */
  readonly [BODY]?: Body;
}

export const mediaTypesOf = ({ isPatch }: Pick<BodyDeclaration, 'isPatch'>): readonly string[] =>
  isPatch === true ? ['application/json', 'application/merge-patch+json'] : ['application/json'];

const REQUIRED = 'This field is required.';
const NOT_NULL = 'This field may not be null.';

/**
 * Checks a parsed JSON body against its fields. Values of invalid fields are missing: check for faults before
 * using them. So are those that PATCH omits, and optional ones that PUT omits: they keep the stored value.
 * Those that POST omits are null, the fallback or undefined.
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

/** Returns the type's name as Django REST framework words it. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  return Number.isInteger(value) ? 'int' : 'float';
}

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

/** Returns an example body with every field; for a patch, with the status only where there is one. */
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

// Bodies of a resource's POST, PUT and PATCH, derived from its field declarations

interface BodyOptions {
  /** Title of the resource, from which its bodies are named. */
  readonly title: string;
  /** Schema of the GET response; PUT and PATCH ignore those of its fields that they do not accept. */
  readonly response: Schema;
  /** Sets of fields of which one must be given, where no single field is required. */
  readonly oneOf?: BodyDeclaration['oneOf'];
}

export interface Bodies<Body> {
  readonly post: BodyDeclaration<Body>;
  /** Accepts a changed GET response. */
  readonly put: BodyDeclaration<Body>;
  readonly patch: BodyDeclaration<Body>;
}

export function declareBodies<Declared extends Fields>(
  declared: Declared,
  { title, response, oneOf }: BodyOptions,
): Bodies<GivenValues<Declared>> {
  const given = listFields(declared).filter(isGiven);
  const fieldsOf = (toField: (field: NamedField) => BodyField): BodyDeclaration['fields'] =>
    Object.fromEntries(given.map((field) => [field.property, toField(field)]));
  const fields = fieldsOf(ofUpdate);
  const names = given.map(({ name }) => name);
  const readOnly = Object.keys(response.properties as object).filter((name) => !names.includes(name));
  const either = oneOf === undefined ? {} : { oneOf };
  const patch = { title: `${title}PatchBody`, fields, readOnly, isPatch: true };
  return {
    post: { title: `${title}Body`, fields: fieldsOf(ofNew), ...either },
    put: { title: `${title}UpdateBody`, fields, readOnly, patch },
    patch,
  };
}

function ofNew(field: NamedField): BodyField {
  const { name, initial, whenNew } = field;
  const kind = kindOf(whenNew === undefined ? field : { kind: 'choice', label: field.label, ...whenNew });
  if (initial === undefined) return { ...kind, name, presence: presenceOf(field) };
  return { ...kind, name, presence: 'default', ...(initial === NOW ? {} : { fallback: initial }) };
}

function ofUpdate(field: NamedField): BodyField {
  const { name, initial, isFixed } = field;
  // Optional, as the response to GET may be sent back without it.
  if (isFixed === true)
    return { ...kindOf({ ...field, description: 'Cannot be changed.' }), name, presence: 'default' };
  return { ...kindOf(field), name, presence: initial === undefined ? presenceOf(field) : 'default' };
}

const presenceOf = ({ isNullable, isComposed }: Field): BodyField['presence'] =>
  isNullable === true || isComposed === true ? 'nullable' : 'required';
