/** Members: fields, filters and names. A member is one person in one cooperative. */

import type { Visible } from '../access/api-keys.ts';
import {
  type DecidedValues,
  type FieldGroup,
  type InputValues,
  NOW,
  type RecordedField,
} from '../values/declared-fields.ts';
import { FieldError, type PageRequest } from '../values/errors.ts';
import { say } from '../values/message.ts';
import { MAX_LENGTH, parseText } from '../values/text.ts';
import type { CooperativeSummary } from './cooperatives.ts';

export const MEMBER_STATUSES = ['active', 'inactive', 'suspended', 'withdrawn', 'deceased'] as const;
export const ENDED_MEMBER_STATUSES: readonly MemberStatus[] = ['withdrawn', 'deceased'];
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

export const ROLES = [
  'MEMBER',
  'PRESIDENT',
  'VICE_PRESIDENT',
  'SECRETARY',
  'TREASURER',
  'ADVISOR',
  'AUDITOR',
  'MANAGER',
] as const;
export type Role = (typeof ROLES)[number];

export const DEFAULT_ROLE: Role = 'MEMBER';
export const DEFAULT_MEMBER_STATUS: MemberStatus = 'active';

export const GENDERS = ['MALE', 'FEMALE', 'OTHER'] as const;
export type Gender = (typeof GENDERS)[number];

export type MemberField = RecordedField & {
  /** True if the desk's lists of members show the field. A text field must then be in `LISTED_TEXTS` too. */
  readonly isListedAtDesk?: true;
  readonly group: FieldGroup;
  /** A transfer to another cooperative copies only the values of the person. */
  readonly belongsTo: 'person' | 'membership';
  /**
   * Effect of a merge on the member that remains. `fill`: the value of the removed member replaces null.
   * `fill together`: if all such fields are null, they get the values of the removed member.
   */
  readonly merge: 'keep' | 'fill' | 'fill together';
  /** `clear` sets null; `replace` sets a value that is unique to the row. */
  readonly erasure: 'keep' | 'clear' | 'replace' | { readonly becomes: string };
};

const OF_MEMBERSHIP = { group: 'identity', belongsTo: 'membership', merge: 'keep', erasure: 'keep' } as const;
const OF_PERSON = { group: 'identity', belongsTo: 'person', merge: 'fill', erasure: 'clear' } as const;

export const MEMBER_FIELDS = {
  cooperativeId: {
    label: say('Number of the cooperative'),
    kind: 'reference',
    description: 'The cooperative.',
    isFixed: true,
    isHidden: true,
    eventBit: 0,
    ...OF_MEMBERSHIP,
  },
  identityCard: {
    label: say('National ID'),
    kind: 'identity_card',
    description: 'National ID: exactly 16 digits.',
    isKey: true,
    eventBit: 1,
    group: 'identity',
    belongsTo: 'person',
    merge: 'keep',
    erasure: 'replace',
  },
  memberCode: {
    label: say('Member code'),
    kind: 'text',
    maxLength: MAX_LENGTH.memberCode,
    description: "The cooperative's own code for the member; unique there.",
    example: 'HUY-00002',
    eventBit: 2,
    isListedAtDesk: true,
    ...OF_MEMBERSHIP,
    erasure: 'replace',
  },
  fullName: {
    label: say('Name'),
    kind: 'text',
    maxLength: MAX_LENGTH.name,
    description: 'Name as registered in the cooperative.',
    example: 'First Example',
    isComposed: true,
    eventBit: 3,
    isListedAtDesk: true,
    group: 'identity',
    belongsTo: 'person',
    merge: 'keep',
    erasure: { becomes: '(erased)' },
  },
  firstName: {
    label: say('First name'),
    kind: 'text',
    maxLength: MAX_LENGTH.name,
    description: 'Never guessed from the full name.',
    example: 'First',
    isNullable: true,
    eventBit: 4,
    ...OF_PERSON,
    // A first name from one member and a last name from another would not be the name of any person.
    merge: 'fill together',
  },
  lastName: {
    label: say('Last name'),
    kind: 'text',
    maxLength: MAX_LENGTH.name,
    description: 'Never guessed from the full name.',
    example: 'Example',
    isNullable: true,
    eventBit: 5,
    ...OF_PERSON,
    merge: 'fill together',
  },
  gender: {
    label: say('Gender'),
    kind: 'choice',
    choices: GENDERS,
    description: 'As registered; never derived from the national ID.',
    isNullable: true,
    eventBit: 6,
    ...OF_PERSON,
  },
  dateOfBirth: {
    label: say('Date of birth'),
    kind: 'past_date',
    description: 'As registered; never derived from the national ID.',
    isNullable: true,
    eventBit: 7,
    ...OF_PERSON,
  },
  mobile: {
    label: say('Telephone'),
    kind: 'mobile',
    description: 'E.164.',
    isNullable: true,
    eventBit: 8,
    isListedAtDesk: true,
    ...OF_PERSON,
    group: 'contact',
  },
  role: {
    label: say('Role'),
    kind: 'choice',
    choices: ROLES,
    description: 'Role in the cooperative.',
    initial: DEFAULT_ROLE,
    eventBit: 9,
    isListedAtDesk: true,
    ...OF_MEMBERSHIP,
    erasure: { becomes: DEFAULT_ROLE },
  },
  status: {
    label: say('Status'),
    kind: 'choice',
    choices: MEMBER_STATUSES,
    description: 'The lookups find only active memberships.',
    initial: DEFAULT_MEMBER_STATUS,
    eventBit: 10,
    isListedAtDesk: true,
    ...OF_MEMBERSHIP,
    erasure: 'replace',
  },
  registrationDate: {
    label: say('Joined'),
    kind: 'past_instant',
    description: 'When the person joined the cooperative; the newest decides the primary name.',
    initial: NOW,
    eventBit: 11,
    isListedAtDesk: true,
    ...OF_MEMBERSHIP,
  },
  dateOfDeath: {
    label: say('Date of death'),
    kind: 'past_date',
    description: 'The same for every membership of a person.',
    isNullable: true,
    setBy: 'corrections',
    isHidden: true,
    eventBit: null,
    ...OF_PERSON,
  },
} as const satisfies { readonly [property: string]: MemberField };

type Text = {
  [property in keyof MemberValues]: MemberValues[property] extends string | null ? property : never;
}[keyof MemberValues];

/** Text fields that lists of members show as stored, in response order. */
export const LISTED_TEXTS = [
  'memberCode',
  'fullName',
  'identityCard',
  'mobile',
  'gender',
  'role',
  'status',
] as const satisfies readonly Text[];

/** Fields of a membership in lookups, in response order. */
export const LOOKED_UP = [
  'memberCode',
  'fullName',
  'firstName',
  'lastName',
  'role',
  'status',
  'registrationDate',
  'mobile',
] as const satisfies readonly (keyof MemberValues)[];

/** Fields of a person in lookups. Each value comes from the newest membership that has one. */
export const CONSOLIDATED = ['gender', 'dateOfBirth', 'mobile'] as const satisfies readonly Text[];

export interface MemberValues extends DecidedValues<typeof MEMBER_FIELDS> {}
export interface MemberInput extends InputValues<typeof MEMBER_FIELDS> {}

export interface Member extends MemberValues {
  readonly id: number;
  readonly cooperativeCode: string;
  readonly cooperativeName: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface MemberFilter {
  readonly ids?: readonly number[];
  readonly identityCard?: string;
  readonly cooperativeId?: number;
  readonly status?: MemberStatus;
  readonly memberCode?: string;
  /** In E.164 format. */
  readonly mobile?: string;
  /** Texts that must each be the beginning of a word in the name. */
  readonly search?: readonly string[];
}

type SearchFilter = MemberFilter & { readonly search: readonly string[] };

export const isSearch = (filter: MemberFilter): filter is SearchFilter => filter.search !== undefined;

/** Member in a list. SQLite writes the JSON: JavaScript is slower (docs/decisions/0018-lists-as-text.md). */
export interface ListedMember {
  readonly id: number;
  /** JSON object of the id and then LISTED_TEXTS in order. Each value in it is a string or null. */
  readonly json: string;
  readonly cooperative: CooperativeSummary;
  /** Epoch seconds. */
  readonly registrationDate: number;
}

export interface MemberSearch {
  readonly filter: SearchFilter;
  readonly request: PageRequest;
  readonly visible: Visible;
}

export interface Names {
  readonly fullName: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/**
 * Forms a missing full name from first and last name. A full name is never split into parts, because a guess
 * would be wrong for names written surname first (docs/api.md#members).
 * @returns undefined if the full name and at least one of its parts are null
 */
export function composeNames(
  fullName: string | null,
  firstName: string | null,
  lastName: string | null,
): Names | FieldError | undefined {
  if (fullName !== null) return { fullName, firstName, lastName };
  if (firstName === null || lastName === null) return undefined;
  const composed = parseText(`${firstName} ${lastName}`, MAX_LENGTH.name);
  return composed instanceof FieldError ? composed : { fullName: composed, firstName, lastName };
}
