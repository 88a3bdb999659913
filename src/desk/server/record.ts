/** Who has seen whose data: recorded before the page leaves (docs/ledger.md). */
import { randomUUID } from 'node:crypto';
import type { Page, Screen, Visit } from '../visit/screen.ts';

/** @throws RegistryError `unavailable` when it cannot be recorded; nothing may be shown then */
export async function recordReading(
  visit: Visit,
  screen: Screen,
  { shows }: Pick<Page, 'shows'>,
): Promise<void> {
  if (screen.personal === 'none' || shows === 'nobody') return;
  // A fault of the program: found by the first test that opens the page.
  if (shows === undefined) throw new Error(`The screen ${screen.path} does not say whose data it shows.`);
  await visit.desk.ledger?.record([
    {
      timeMs: visit.desk.clock.now(),
      requestId: randomUUID(),
      reader: { user: visit.session.user },
      route: `desk ${screen.path}`,
      fields: shows.fields,
      status: 200,
      address: null,
      purpose: null,
      endUser: null,
      subject: shows.subject,
    },
  ]);
}
