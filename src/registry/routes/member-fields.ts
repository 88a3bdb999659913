/** A member in bodies and responses, derived from its declared fields. */

import { declareResource } from '../../http/declare/resource.ts';
import { badRequest } from '../../http/declare/response.ts';
import { type ApiRequest, type Parameter, SHOWS_PERSONS } from '../../http/declare/route.ts';
import { formatDateTime } from '../../values/date-time.ts';
import { ID, parseId } from '../../values/errors.ts';
import { shownObject } from '../../values/field-json.ts';
import { string } from '../../values/schema.ts';
import type { Serialize } from '../../values/serializer.ts';
import { MEMBER_FIELDS } from '../members.ts';
import type { ListedMember } from '../registry-store.ts';
import { SHOWN_LISTED_MEMBER, SHOWN_MEMBER } from '../shown-rows.ts';
import { serializeCooperativeSummary } from './cooperative-routes.ts';

// Path parameter of routes that accept only a member id.

export const MEMBER_ID: Parameter = {
  description: 'The id of a member: 1 to 12 digits.',
  schema: string({ pattern: ID.source }),
  example: '2',
  takesAnyByte: true,
};

/** @throws HttpError 400 for anything else, including a national ID (docs/api.md#routes) */
export function readMemberId(request: Pick<ApiRequest, 'params'>): number {
  const id = parseId(request.params.id ?? '');
  if (id === undefined) throw badRequest('Expected a member id.');
  return id;
}

export const MEMBER_ROW = shownObject('MemberRow', SHOWN_LISTED_MEMBER);

const declared = declareResource(MEMBER_FIELDS, {
  tag: 'members',
  title: 'Member',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_MEMBER,
  memberIdOf: ({ id }) => id,
  oneOf: [['full_name'], ['first_name', 'last_name']],
});

export const MEMBER: typeof declared = { ...declared, id: MEMBER_ID, readId: readMemberId };

/** Completes the JSON object from storage, which lacks the fields that depend on more than the row. */
export const serializeMemberRow: Serialize<ListedMember> = ({ json, cooperative, registrationDate }, zone) =>
  `${json.slice(0, -1)},"cooperative":${serializeCooperativeSummary(cooperative)},` +
  `"registration_date":"${formatDateTime(registrationDate, zone)}"}`;
