/** The checked body of a member → its values. */
import { FieldError, type FieldErrorList } from '../../domain/errors.ts';
import {
  composeNames,
  DEFAULT_MEMBER_STATUS,
  DEFAULT_ROLE,
  type MemberValues,
  type Names,
} from '../../domain/members.ts';
import type { ParsedBody } from '../body-fields.ts';
import type { MEMBER_UPDATE_BODY } from './member-fields.ts';

export type MemberBody = ParsedBody<typeof MEMBER_UPDATE_BODY.fields>;

/** The names of a body; a fault under `full_name` when there are none. */
export function readNames(values: Partial<MemberBody>, faults: FieldErrorList): Names | undefined {
  const { full_name, first_name, last_name } = values;
  if (full_name === undefined || first_name === undefined || last_name === undefined) return undefined;
  const names = composeNames(full_name, first_name, last_name);
  if (names instanceof FieldError) faults.add('full_name', names.message);
  else if (names !== undefined) return names;
  else faults.add('full_name', 'This field is required.');
  return undefined;
}

/** A checked body as the domain names it. */
export const toMemberValues = (
  body: MemberBody,
  names: Names,
  cooperativeId: number,
  registrationDate: number,
): MemberValues => ({
  cooperativeId,
  identityCard: body.identity_card,
  memberCode: body.member_code,
  ...names,
  gender: body.gender,
  dateOfBirth: body.date_of_birth,
  mobile: body.mobile,
  role: body.role ?? DEFAULT_ROLE,
  status: body.status ?? DEFAULT_MEMBER_STATUS,
  registrationDate,
});
