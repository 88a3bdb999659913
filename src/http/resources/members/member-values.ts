/** The checked body of a member → its values. */

import type { GivenMember, Member, MemberValues } from '../../../domain/membership/members.ts';
import { composeNames, type Names } from '../../../domain/membership/names.ts';
import { FieldError, type FieldErrorList } from '../../../domain/values/errors.ts';

/** The names of a body; a fault under `full_name` when there are none. */
function readNames(
  { fullName, firstName, lastName }: Partial<GivenMember>,
  faults: FieldErrorList,
): Names | undefined {
  if (fullName === undefined || firstName === undefined || lastName === undefined) return undefined;
  const names = composeNames(fullName, firstName, lastName);
  if (names instanceof FieldError) faults.add('full_name', names.message);
  else if (names !== undefined) return names;
  else faults.add('full_name', 'This field is required.');
  return undefined;
}

/**
 * The values of a checked body, in which those of invalid fields are missing; some are missing when there are
 * faults. Adds the faults of fields together, and beside the stored ones.
 * @param stored undefined for a new member
 */
export function readMemberValues(
  body: Partial<GivenMember>,
  stored: Member | undefined,
  faults: FieldErrorList,
  nowSeconds: number,
): Partial<MemberValues> {
  const cooperativeId = body.cooperativeId ?? stored?.cooperativeId;
  if (stored !== undefined && cooperativeId !== stored.cooperativeId)
    faults.add('cooperative_id', 'This field cannot be changed.');
  const names = readNames(body, faults);
  return {
    ...body,
    ...names,
    // What other members have is not looked for in a cooperative that was refused.
    cooperativeId: faults.has('cooperative_id') ? undefined : cooperativeId,
    registrationDate: body.registrationDate ?? stored?.registrationDate ?? nowSeconds,
  } as Partial<MemberValues>;
}
