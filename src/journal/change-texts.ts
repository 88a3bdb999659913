/** Texts for rows and actors. */

import type { ChangedEntity } from '../registry/changes/tables.ts';
import { FOUND_MEMBER } from '../registry/stored/stored-data.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Actor } from '../sqlite/entity-store.ts';
import { asMessage, type Message, say } from '../values/message.ts';
import type { AffectedMember } from './operations.ts';

/** The member must exist. */
export const nameMember = (
  db: Connection,
  { id, fate }: Pick<AffectedMember, 'id' | 'fate'>,
): AffectedMember =>
  db.row<AffectedMember>(
    `SELECT ${FOUND_MEMBER}, @fate AS fate
     FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = @id`,
    { id, fate },
  ) as AffectedMember;

/** @param who user who ran the import, correction or undo; null if not shown */
export function formatActor(actor: Actor | null, who: string | null = null): Message {
  if (actor === null) return say('before the history');
  if (who !== null) return say('{actor}: {who}', { actor: formatActor(actor), who });
  const [type = '', ...rest] = actor.split(':');
  const name = rest.join(':');
  return type === 'undo'
    ? say('undo of {name}', { name })
    : say('{type} {name}', { type: asMessage(type), name });
}

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

export const countEntities = (entity: ChangedEntity, count: number): Message => COUNTS[entity](count);
