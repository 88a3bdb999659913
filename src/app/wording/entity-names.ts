/** What rows are called on the screen. */
import { type Message, say } from '../../domain/values/message.ts';
import type { ChangedEntity } from '../../store/contract/journal/corrections.ts';

export const ENTITY_NAMES: { readonly [entity in ChangedEntity]: string } = {
  cooperatives: 'cooperative',
  members: 'member',
  production: 'delivery',
  loans: 'loan',
  payments: 'payment',
  accounts: 'savings account',
  savings: 'savings transaction',
};

const COUNTS: { readonly [entity in ChangedEntity]: (n: number) => Message } = {
  cooperatives: (n) => say('{n|# cooperative|# cooperatives}', { n }),
  members: (n) => say('{n|# member|# members}', { n }),
  production: (n) => say('{n|# delivery|# deliveries}', { n }),
  loans: (n) => say('{n|# loan|# loans}', { n }),
  payments: (n) => say('{n|# payment|# payments}', { n }),
  accounts: (n) => say('{n|# savings account|# savings accounts}', { n }),
  savings: (n) => say('{n|# savings transaction|# savings transactions}', { n }),
};

/** Such as `3 members`. */
export const countEntities = (entity: ChangedEntity, count: number): Message => COUNTS[entity](count);
