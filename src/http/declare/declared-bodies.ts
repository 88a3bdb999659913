/** The bodies of POST, PUT and PATCH of a resource, from the declarations of its fields. */
import {
  type Field,
  type Fields,
  type GivenValues,
  isGiven,
  listFields,
  type NamedField,
  NOW,
} from '../../domain/values/declared-fields.ts';
import { kindOf } from '../../json/declared-fields.ts';
import type { Schema } from '../../json/schema.ts';
import type { BodyDeclaration, BodyField } from './parse-body.ts';

interface BodyOptions {
  /** Of the resource: its bodies are called after it. */
  readonly title: string;
  /** What GET gives, of which PUT and PATCH ignore what they do not take. */
  readonly response: Schema;
  /** Sets of fields of which one must be given, where no single field is required. */
  readonly oneOf?: BodyDeclaration['oneOf'];
}

export interface Bodies<Body> {
  readonly post: BodyDeclaration<Body>;
  /** What GET gave can be changed and sent back. */
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
  // It may be left out, as it may be in what GET gives.
  if (isFixed === true)
    return { ...kindOf({ ...field, description: 'Cannot be changed.' }), name, presence: 'default' };
  return { ...kindOf(field), name, presence: initial === undefined ? presenceOf(field) : 'default' };
}

const presenceOf = ({ isNullable, isComposed }: Field): BodyField['presence'] =>
  isNullable === true || isComposed === true ? 'nullable' : 'required';
