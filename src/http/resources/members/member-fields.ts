/** A member in bodies and responses, from the declarations of its fields. */

import { MEMBER_FIELDS } from '../../../domain/membership/members.ts';
import { formatDateTime } from '../../../domain/values/date-time.ts';
import { shownObject } from '../../../json/declared-fields.ts';
import type { Serialize } from '../../../json/serializer.ts';
import { SHOWN_LISTED_MEMBER, SHOWN_MEMBER } from '../../../json/shown/rows.ts';
import type { ListedMember } from '../../../store/contract/registry.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { serializeCooperativeSummary } from '../cooperative-fields.ts';
import { declareResource } from '../resource.ts';
import { MEMBER_ID, readMemberId } from './member-id.ts';

/** One row of a list. */
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

/** A row of a list: storage gives a JSON object, which lacks the fields that depend on more than the row. */
export const serializeMemberRow: Serialize<ListedMember> = ({ json, cooperative, registrationDate }, zone) =>
  `${json.slice(0, -1)},"cooperative":${serializeCooperativeSummary(cooperative)},` +
  `"registration_date":"${formatDateTime(registrationDate, zone)}"}`;
