/** The checked body of a member → its values, and back. */

import {
  composeNames,
  DEFAULT_MEMBER_STATUS,
  DEFAULT_ROLE,
  type Member,
  type MemberValues,
  type Names,
} from '../../../domain/membership/members.ts';
import { FieldError, type FieldErrorList } from '../../../domain/values/errors.ts';
import type { ParsedBody } from '../../declare/body-fields.ts';
import type { MEMBER_UPDATE_BODY } from './member-fields.ts';

export type MemberBody = ParsedBody<typeof MEMBER_UPDATE_BODY.fields>;

/** The names of a body; a fault under `full_name` when there are none. */
function readNames(values: Partial<MemberBody>, faults: FieldErrorList): Names | undefined {
  const { full_name, first_name, last_name } = values;
  if (full_name === undefined || first_name === undefined || last_name === undefined) return undefined;
  const names = composeNames(full_name, first_name, last_name);
  if (names instanceof FieldError) faults.add('full_name', names.message);
  else if (names !== undefined) return names;
  else faults.add('full_name', 'This field is required.');
  return undefined;
}

/** A checked body as the domain names it. */
const toMemberValues = (
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

/**
 * The values of a checked body, in which those of invalid fields are missing; some are missing when there are
 * faults. Adds the faults of fields together, and beside the stored ones.
 * @param stored undefined for a new member
 */
export function readMemberValues(
  body: Partial<MemberBody>,
  stored: Member | undefined,
  faults: FieldErrorList,
  nowSeconds: number,
): Partial<MemberValues> {
  const cooperativeId = body.cooperative_id ?? stored?.cooperative.id;
  if (stored !== undefined && cooperativeId !== stored.cooperative.id)
    faults.add('cooperative_id', 'This field cannot be changed.');
  const names = readNames(body, faults);
  const registrationDate = body.registration_date ?? stored?.registrationDate ?? nowSeconds;
  // What other members have is not looked for in a cooperative that was refused.
  const known = faults.has('cooperative_id') ? undefined : cooperativeId;
  return toMemberValues(body as MemberBody, names as Names, known as number, registrationDate);
}

/** The stored values as a body would give them. */
export const toMemberBody = (member: Member): MemberBody => ({
  cooperative_id: member.cooperative.id,
  identity_card: member.identityCard,
  member_code: member.memberCode,
  full_name: member.fullName,
  first_name: member.firstName,
  last_name: member.lastName,
  gender: member.gender,
  date_of_birth: member.dateOfBirth,
  mobile: member.mobile,
  role: member.role,
  status: member.status,
  registration_date: member.registrationDate,
});
