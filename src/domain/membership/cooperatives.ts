/** A cooperative, and the values it may hold. */

export const COOPERATIVE_STATUSES = ['active', 'inactive', 'dissolved'] as const;
export const ENDED_COOPERATIVE_STATUSES: readonly CooperativeStatus[] = ['dissolved'];
export type CooperativeStatus = (typeof COOPERATIVE_STATUSES)[number];

/** What a new cooperative gets unless its status is given. */
export const DEFAULT_COOPERATIVE_STATUS: CooperativeStatus = 'active';

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

/** What POST and PUT give, checked and with defaults filled in. */
export interface CooperativeValues {
  readonly code: string;
  readonly name: string;
  readonly sector: Sector | null;
  readonly province: string | null;
  readonly district: string | null;
  /** `YYYY-MM-DD`. */
  readonly registrationDate: string | null;
  readonly status: CooperativeStatus;
}

export interface Cooperative extends CooperativeValues {
  readonly id: number;
  /** Active members, kept by the store. */
  readonly membersCount: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What other resources show of a cooperative. */
export interface CooperativeSummary {
  readonly id: number;
  readonly code: string;
  readonly name: string;
}

export interface CooperativeFilter {
  readonly code?: string;
  readonly status?: CooperativeStatus;
  readonly sector?: Sector;
  /** In any letter case. */
  readonly district?: string;
}
