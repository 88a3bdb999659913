/** Values of rows that the registry holds: `HeldRow` gives them as they are stored, by the names of files. */
import { DERIVED_REFERENCE } from '../../domain/entries/entries.ts';
import { MEMBER_FIELDS } from '../../domain/membership/members.ts';
import { listFields } from '../../domain/values/declared-fields.ts';
import type { FoundMember, HeldRow } from '../../store/contract/journal/held-data.ts';
import type { Visit } from '../visit/screen.ts';
import { nameOf } from './names.ts';
import { writeStored } from './write-stored.ts';

/** Empty where there is none. */
export const textOf = (row: HeldRow, field: string): string => String(row[field] ?? '');

/** Zero where there is none. */
export const numberOf = (row: HeldRow, field: string): number => Number(row[field] ?? 0);

/** Nothing of an entry that came without one and got one of the registry's. */
export const referenceOf = (row: HeldRow): string =>
  textOf(row, 'reference').startsWith(DERIVED_REFERENCE) ? '' : textOf(row, 'reference');

/** What is shown of a value that may be missing; nothing otherwise. */
export const ifGiven = <T>(row: HeldRow, field: string, shown: (value: T) => string): string | undefined =>
  row[field] === null || row[field] === undefined ? undefined : shown(row[field] as T);

/** What headings say of a member, and the parts of a name. */
const ELSEWHERE = ['cooperative_id', 'identity_card', 'first_name', 'last_name'];
const SHOWN_FIELDS = listFields(MEMBER_FIELDS)
  .map(({ name }) => name)
  .filter((name) => !ELSEWHERE.includes(name));

/** What is registered of a member, with what each value is called. @param but a field that is not wanted */
export const memberValues = (
  visit: Visit,
  member: HeldRow,
  but?: string,
): (readonly [name: string, value: string | undefined])[] =>
  SHOWN_FIELDS.filter((field) => field !== but).map((field) => [
    visit.translate(nameOf(field)),
    field === 'registration_date'
      ? ifGiven(member, field, visit.write.day)
      : writeStored(visit, field, member[field]),
  ]);

export const describeMember = ({ cooperativeCode, memberCode, fullName }: FoundMember): string =>
  `${cooperativeCode} · ${memberCode} · ${fullName}`;
