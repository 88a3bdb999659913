/**
 * Lists of members: those of a person, a code or a telephone number are found by index, all others by the
 * count index.
 */
import { type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import { MEMBER_STATUSES, type MemberFilter } from '../../../domain/membership/members.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { LISTED_ROW, type ListedRow } from '../rows/rows.ts';
import { MEMBER_COUNTS } from '../schema/counts.ts';
import { openFewMembers } from './few-members.ts';
import { type ListRows, openCountedList } from './list-pages.ts';

export const LISTED_MEMBERS: ListRows = {
  table: 'members',
  alias: 'm',
  select: `SELECT ${LISTED_ROW}`,
  joins: '',
  asTuples: true,
};

export function openMemberLists(db: Connection) {
  const listFew = openFewMembers<ListedRow>(db, LISTED_MEMBERS);
  const listCounted = openCountedList<ListedRow>(db, LISTED_MEMBERS, MEMBER_COUNTS, MEMBER_STATUSES);

  return (filter: MemberFilter, request: PageRequest, visible: Visible): Page<ListedRow> => {
    const groups = visibleGroups(visible, filter.cooperativeId);
    return listFew(filter, groups, request) ?? listCounted({ groups, value: filter.status }, request);
  };
}
