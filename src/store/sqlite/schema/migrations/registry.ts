/**
 * The schema of a registry's file, as numbered migrations, each in a file of SQL. One that has been released
 * is never edited: files in use have run it. What it has of counts, totals, names and the stale flag follows
 * declarations (../declared-totals.ts, ../indexed-names.ts, ../stale-flag.ts); a test compares them.
 */
import { readFileSync } from 'node:fs';
import type { Schema } from '../../engine/migrate.ts';
import { KEYS_SCHEMA } from './keys.ts';

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');

const UNRELEASED =
  'was created by a version before 1.0.0. ' +
  'Export everything with that version, and import it into a new file.';

/** In the order in which they run. */
export const REGISTRY_SCHEMA: Schema = {
  applicationId: 0x63727234,
  migrations: ['registry-1.sql'].map(read),
  mistakenFor: {
    [KEYS_SCHEMA.applicationId]: "holds the keys of a registry. Name the registry's file instead.",
    1668444721: UNRELEASED,
    1668444722: UNRELEASED,
    1668444723: UNRELEASED,
  },
};
