/** Who has seen whose data: recorded before the page leaves (docs/ledger.md). */
import { readingByUser } from '../../app/readings/user-reading.ts';
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
  const { clock, ledger } = visit.desk;
  const shown = { route: `desk ${screen.path}`, fields: shows.fields, subject: shows.subject };
  await ledger?.record([readingByUser(clock, visit.session.user, shown)]);
}
