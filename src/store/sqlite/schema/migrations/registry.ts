/**
 * The schema of a registry's file, as numbered migrations. One that has been released is never edited: files
 * in use have run it. The first creates everything and is in the files
 * `first-…`, by subject.
 */
import type { Schema } from '../../engine/migrate.ts';
import { ENTRIES, READ_MODEL } from './first-entries.ts';
import { JOURNAL } from './first-journal.ts';
import { FORMER_IDENTITIES, MEMBERS } from './first-members.ts';
import { NAMES } from './first-names.ts';
import { STORED_TOTALS } from './first-totals.ts';
import { KEYS_SCHEMA } from './keys.ts';

const FIRST = [MEMBERS, ENTRIES, READ_MODEL, JOURNAL, FORMER_IDENTITIES, NAMES, STORED_TOTALS].join('\n');
const UNRELEASED =
  'was created by a version before 1.0.0. ' +
  'Export everything with that version, and import it into a new file.';

/** In the order in which they run. */
export const REGISTRY_SCHEMA: Schema = {
  applicationId: 0x63727233,
  migrations: [FIRST],
  mistakenFor: {
    [KEYS_SCHEMA.applicationId]: "holds the keys of a registry. Name the registry's file instead.",
    1668444721: UNRELEASED,
    1668444722: UNRELEASED,
  },
};
