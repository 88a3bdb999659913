/** Cooperatives: fields and filters. */

import type { DecidedValues, RecordedField } from '../values/declared-fields.ts';
import { say } from '../values/message.ts';
import { MAX_LENGTH } from '../values/text.ts';

export const COOPERATIVE_STATUSES = ['active', 'inactive', 'dissolved'] as const;
export const ENDED_COOPERATIVE_STATUSES: readonly CooperativeStatus[] = ['dissolved'];
export type CooperativeStatus = (typeof COOPERATIVE_STATUSES)[number];

export const SECTORS = [
  'agriculture',
  'livestock',
  'fishing',
  'trading',
  'services',
  'transport',
  'housing',
  'handicraft',
  'mining',
  'savings_credit',
  'other',
] as const;
export type Sector = (typeof SECTORS)[number];

export const COOPERATIVE_FIELDS = {
  code: {
    label: say('Code'),
    kind: 'cooperative_code',
    description: 'Unique: 1 to 32 of A-Z, 0-9 and "-".',
    isKey: true,
    eventBit: 0,
  },
  name: {
    label: say('Name'),
    kind: 'text',
    maxLength: MAX_LENGTH.name,
    description: 'Name of the cooperative.',
    example: 'KOAKAMA Abahuje Huye',
    eventBit: 1,
  },
  sector: {
    label: say('Business sector'),
    kind: 'choice',
    choices: SECTORS,
    description: 'Business sector of the cooperative.',
    isNullable: true,
    eventBit: 2,
  },
  province: {
    label: say('Province'),
    kind: 'text',
    maxLength: MAX_LENGTH.place,
    description: 'Province of its seat.',
    example: 'South',
    isNullable: true,
    eventBit: 3,
  },
  district: {
    label: say('District'),
    kind: 'text',
    maxLength: MAX_LENGTH.place,
    description: 'District of its seat.',
    example: 'Huye',
    isNullable: true,
    eventBit: 4,
  },
  registrationDate: {
    label: say('Registered'),
    kind: 'past_date',
    description: 'Day on which it was registered.',
    isNullable: true,
    isKeptByEmptyCell: true,
    eventBit: 5,
  },
  status: {
    label: say('Status'),
    kind: 'choice',
    choices: COOPERATIVE_STATUSES,
    description: 'Active or dissolved.',
    initial: 'active' satisfies CooperativeStatus,
    eventBit: 6,
  },
} as const satisfies { readonly [property: string]: RecordedField };

export interface CooperativeValues extends DecidedValues<typeof COOPERATIVE_FIELDS> {}

export interface Cooperative extends CooperativeValues {
  readonly id: number;
  /** Active members. */
  readonly membersCount: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface CooperativeSummary {
  readonly id: number;
  readonly code: string;
  readonly name: string;
}

export interface CooperativeFilter {
  readonly code?: string;
  readonly status?: CooperativeStatus;
  readonly sector?: Sector;
  /** Compared without regard to letter case. */
  readonly district?: string;
  /** Texts that must each be the beginning of a word in the name. */
  readonly search?: readonly string[];
}
