/** What rows are called on the screen, for `counted`. */
import type { ChangedEntity } from '../../store/ports/journal/corrections.ts';

export const ENTITY_NAMES: { readonly [entity in ChangedEntity]: readonly [one: string, many?: string] } = {
  cooperatives: ['cooperative'],
  members: ['member'],
  production: ['delivery', 'deliveries'],
  loans: ['loan'],
  payments: ['payment'],
  accounts: ['savings account'],
  savings: ['savings transaction'],
};
