/**
 * The schema of a registry's file, as numbered migrations. One that has been released is never edited: files
 * in use have run it. The first creates everything and is in the files
 * `first-…`, by subject.
 */
import type { Schema } from '../../engine/migrate.ts';
import { COUNTS } from './first-counts.ts';
import { ENTRIES, READ_MODEL } from './first-entries.ts';
import { JOURNAL } from './first-journal.ts';
import { FORMER_IDENTITIES, MEMBERS } from './first-members.ts';
import { NAMES } from './first-names.ts';
import { GENERATIONS } from './generations.ts';
import { HIDDEN_NAMES } from './hidden-names.ts';
import { KEYS_SCHEMA } from './keys.ts';
import { STORED_TOTALS } from './totals.ts';
import { UNDONE_BY } from './undone-by.ts';
import { UPDATED_LENDING } from './updated-lending.ts';

const FIRST = [MEMBERS, ENTRIES, READ_MODEL, COUNTS, JOURNAL, FORMER_IDENTITIES, NAMES].join('\n');

/** In the order in which they run. */
export const REGISTRY_SCHEMA: Schema = {
  applicationId: 0x63727232,
  migrations: [FIRST, STORED_TOTALS, GENERATIONS, UNDONE_BY, HIDDEN_NAMES, UPDATED_LENDING],
  mistakenFor: {
    [KEYS_SCHEMA.applicationId]: "holds the keys of a registry. Name the registry's file instead.",
    1668444721: 'was created by an unreleased version. Create it again and import the files.',
  },
};
