/** A member: one person in one cooperative. */

import {
  type DecidedValues,
  type FieldGroup,
  type GivenValues,
  NOW,
  type RecordedField,
} from '../values/declared-fields.ts';
import { say } from '../values/message.ts';
import { MAX_LENGTH } from '../values/text.ts';

export const MEMBER_STATUSES = ['active', 'inactive', 'suspended', 'withdrawn', 'deceased'] as const;
/** Of memberships that are over. */
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

/** What a new member gets unless its role or status is given. */
export const DEFAULT_ROLE: Role = 'MEMBER';
export const DEFAULT_MEMBER_STATUS: MemberStatus = 'active';

export const GENDERS = ['MALE', 'FEMALE', 'OTHER'] as const;
export type Gender = (typeof GENDERS)[number];

/** Whose a field is, and what a merge does with it in the member that stays, and an erasure. */
export type MemberField = RecordedField & {
  /** Whether it is a column of the desk's list of members; of texts, LISTED_TEXTS has it too. */
  readonly isListedAtDesk?: true;
  readonly group: FieldGroup;
  /** A transfer takes what is the person's to the new membership, which begins without the rest. */
  readonly belongsTo: 'person' | 'membership';
  /**
   * `keep`: what the member who stays has. `fill`: where that is nothing, the other member's.
   * `fill together`: the same for the fields of this kind as one, so that they come from one member.
   */
  readonly merge: 'keep' | 'fill' | 'fill together';
  /** It stays, becomes null or the given text, or gets a value that only its row has. */
  readonly erasure: 'keep' | 'clear' | 'replace' | { readonly becomes: string };
};

/** What a cooperative decides of a member (docs/api.md#members). */
export const MEMBER_FIELDS = {
  cooperativeId: {
    label: say('Number of the cooperative'),
    kind: 'reference',
    description: 'The cooperative.',
    isFixed: true,
    isHidden: true,
    eventBit: 0,
    group: 'identity',
    belongsTo: 'membership',
    merge: 'keep',
    erasure: 'keep',
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
    group: 'identity',
    belongsTo: 'membership',
    merge: 'keep',
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
    group: 'identity',
    belongsTo: 'person',
    // One of each member would make a name that nobody has.
    merge: 'fill together',
    erasure: 'clear',
  },
  lastName: {
    label: say('Last name'),
    kind: 'text',
    maxLength: MAX_LENGTH.name,
    description: 'Never guessed from the full name.',
    example: 'Example',
    isNullable: true,
    eventBit: 5,
    group: 'identity',
    belongsTo: 'person',
    merge: 'fill together',
    erasure: 'clear',
  },
  gender: {
    label: say('Gender'),
    kind: 'choice',
    choices: GENDERS,
    description: 'As registered; never derived from the national ID.',
    isNullable: true,
    eventBit: 6,
    group: 'identity',
    belongsTo: 'person',
    merge: 'fill',
    erasure: 'clear',
  },
  dateOfBirth: {
    label: say('Date of birth'),
    kind: 'past_date',
    description: 'As registered; never derived from the national ID.',
    isNullable: true,
    eventBit: 7,
    group: 'identity',
    belongsTo: 'person',
    merge: 'fill',
    erasure: 'clear',
  },
  mobile: {
    label: say('Telephone'),
    kind: 'mobile',
    description: 'E.164.',
    isNullable: true,
    eventBit: 8,
    isListedAtDesk: true,
    group: 'contact',
    belongsTo: 'person',
    merge: 'fill',
    erasure: 'clear',
  },
  role: {
    label: say('Role'),
    kind: 'choice',
    choices: ROLES,
    description: 'Role in the cooperative.',
    initial: DEFAULT_ROLE,
    eventBit: 9,
    isListedAtDesk: true,
    group: 'identity',
    belongsTo: 'membership',
    merge: 'keep',
    erasure: { becomes: DEFAULT_ROLE },
  },
  status: {
    label: say('Status'),
    kind: 'choice',
    choices: MEMBER_STATUSES,
    description: 'Only active memberships are found by the lookups.',
    initial: DEFAULT_MEMBER_STATUS,
    eventBit: 10,
    isListedAtDesk: true,
    group: 'identity',
    belongsTo: 'membership',
    merge: 'keep',
    erasure: 'replace',
  },
  registrationDate: {
    label: say('Joined'),
    kind: 'past_instant',
    description: 'When the person joined the cooperative; the newest decides the primary name.',
    initial: NOW,
    eventBit: 11,
    isListedAtDesk: true,
    group: 'identity',
    belongsTo: 'membership',
    merge: 'keep',
    erasure: 'keep',
  },
  dateOfDeath: {
    label: say('Date of death'),
    kind: 'past_date',
    description: 'The same for every membership of a person.',
    isNullable: true,
    setBy: 'corrections',
    isHidden: true,
    eventBit: null,
    group: 'identity',
    belongsTo: 'person',
    merge: 'fill',
    erasure: 'clear',
  },
} as const satisfies { readonly [property: string]: MemberField };

type Text = {
  [property in keyof MemberValues]: MemberValues[property] extends string | null ? property : never;
}[keyof MemberValues];

/** The texts that lists show as they are stored, in the order of the response. */
export const LISTED_TEXTS = [
  'memberCode',
  'fullName',
  'identityCard',
  'mobile',
  'gender',
  'role',
  'status',
] as const satisfies readonly Text[];

/** What lookups show of a membership, in the order of the response. */
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

/** What lookups show of the person: the newest registration that has it decides. */
export const CONSOLIDATED = ['gender', 'dateOfBirth', 'mobile'] as const satisfies readonly Text[];

export interface MemberValues extends DecidedValues<typeof MEMBER_FIELDS> {}
export interface GivenMember extends GivenValues<typeof MEMBER_FIELDS> {}

export interface Member extends MemberValues {
  readonly id: number;
  readonly cooperativeCode: string;
  readonly cooperativeName: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface MemberFilter {
  readonly identityCard?: string;
  readonly cooperativeId?: number;
  readonly status?: MemberStatus;
  readonly memberCode?: string;
  /** In E.164. */
  readonly mobile?: string;
  /** Beginnings of words of the name. */
  readonly search?: readonly string[];
}
