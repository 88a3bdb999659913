/** Storage as commands open it, for tests of behaviour. */

import { openConfiguredStorage } from '../../src/app/storage.ts';
import { KIGALI, type TimeZone } from '../../src/domain/values/date-time.ts';
import type { Storage } from '../../src/store/contract/storage.ts';
import { testClock } from './app.ts';

export const storageAt = (location: string, zone: TimeZone = KIGALI): Storage =>
  openConfiguredStorage({ storage: location, zone }, testClock());
