/** A member: one person in one cooperative. */

import { FieldError } from '../values/errors.ts';
import { MAX_LENGTH, parseText } from '../values/text.ts';
import type { CooperativeSummary } from './cooperatives.ts';

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

/** The values of a member that its cooperative decides, checked and with defaults filled in. */
export interface MemberValues {
  readonly cooperativeId: number;
  /** 16 digits, always as text: it does not fit a double exactly. */
  readonly identityCard: string;
  readonly memberCode: string;
  readonly fullName: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly gender: Gender | null;
  /** `YYYY-MM-DD`. */
  readonly dateOfBirth: string | null;
  readonly mobile: string | null;
  readonly role: Role;
  readonly status: MemberStatus;
  /** Epoch seconds. */
  readonly registrationDate: number;
}

export interface Member extends Omit<MemberValues, 'cooperativeId'> {
  readonly id: number;
  readonly cooperative: CooperativeSummary;
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
}

export interface Names {
  readonly fullName: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/**
 * The names of a member from what was given: `full_name`, or both parts, which then make it. A full name is
 * never split: a guess is wrong for names that are written surname first (docs/api.md#members).
 * @returns undefined when neither was given
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

const MARKS = /\p{M}+/gu;
const WORD = /\p{L}{2,}/gu;

const wordsOf = (name: string): string[] =>
  name.normalize('NFKD').replace(MARKS, '').toLowerCase().match(WORD) ?? [];

/** Whether two names share a word of two letters or more, in any order, whatever its case and accents. */
export function haveCommonWord(one: string, other: string): boolean {
  const words = new Set(wordsOf(one));
  return wordsOf(other).some((word) => words.has(word));
}
