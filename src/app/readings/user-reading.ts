/** A reading by a person on this machine, and not by a key: a command, the desk, an embedding program. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { Reading } from '../../store/contract/access-ledger.ts';

/** @param user as the ledger names them. @param shown what was read, and what else is known of it */
export const readingByUser = (
  clock: Clock,
  user: string,
  shown: Pick<Reading, 'route' | 'fields' | 'subject'> & Partial<Reading>,
): Reading => ({
  timeMs: clock.now(),
  requestId: randomUUID(),
  reader: { user },
  status: 200,
  address: null,
  purpose: null,
  endUser: null,
  ...shown,
});
