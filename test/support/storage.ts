/** Storage as commands open it, for tests of behaviour. */
import { KIGALI, type TimeZone } from '../../src/domain/date-time.ts';
import { openConfiguredStorage } from '../../src/storage.ts';
import type { Storage } from '../../src/store/ports/storage.ts';
import { testClock } from './app.ts';

export const storageAt = (location: string, zone: TimeZone = KIGALI): Storage =>
  openConfiguredStorage({ storage: location, zone }, testClock());
