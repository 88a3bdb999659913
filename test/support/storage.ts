/** Storage as commands open it, for tests of behaviour. */

import type { Storage } from '../../src/sqlite/storage.ts';
import { openConfiguredStorage } from '../../src/terminal/settings.ts';
import { KIGALI, type TimeZone } from '../../src/values/date-time.ts';
import { testClock } from './app.ts';

export const storageAt = (location: string, zone: TimeZone = KIGALI): Storage =>
  openConfiguredStorage({ storage: location, timeZone: zone }, testClock());
