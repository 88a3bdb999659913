/** The desk: a local page for those who run the registry (docs/desk.md). */

import { FOUND } from './screens/found.ts';
import { HELD } from './screens/person/held.ts';
import { PERSON } from './screens/person/person.ts';
import { READERS } from './screens/person/readers.ts';
import { START } from './screens/start.ts';
import { type DeskServer, type DeskServerOptions, listenForDesk } from './server/server.ts';
import type { Screen } from './visit/screen.ts';

/** In the order of the menu. To add one, declare it in a file of `screens/` and list it here. */
export const SCREENS: readonly Screen[] = [START, FOUND, PERSON, HELD, READERS];

/** @throws (as rejection) the system's error when the port cannot be listened on */
export const openDesk = (options: Omit<DeskServerOptions, 'screens'>, port: number): Promise<DeskServer> =>
  listenForDesk({ ...options, screens: SCREENS }, port);
