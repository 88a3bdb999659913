/** What the registry holds, for commands: read from a connection of its own. */
import type { CooperativeSummary } from '../../../domain/membership/cooperatives.ts';
import type { HeldDataStore } from '../../ports/journal/held-data.ts';
import { findDuplicates } from '../duplicates/find-duplicates.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { readEntries } from './entry-rows.ts';
import { findMembers, searchMembers } from './find-members.ts';
import { findMembership, findPerson } from './person.ts';
import { findNumbers, findTraces, listNumbers } from './traces.ts';

/** @throws StorageError `unusable` when there is no registry */
export function openHeldData(databaseFile: string): HeldDataStore {
  const db = openDatabase(databaseFile, { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  return {
    listCooperatives: () =>
      db.rows<CooperativeSummary>('SELECT id, code, name FROM cooperatives ORDER BY code'),
    findPerson: (identityCard) => db.transaction.deferred(() => findPerson(db, identityCard)),
    findTraces: (identityCard) => db.transaction.deferred(() => findTraces(db, identityCard)),
    listNumbers: () => listNumbers(db),
    findNumbers: (memberIds) => findNumbers(db, memberIds),
    findMembers: (name) => findMembers(db, name),
    searchMembers: (words) => searchMembers(db, words),
    findMembership: (memberId) => db.transaction.deferred(() => findMembership(db, memberId)),
    listEntries: (kind, selection) => readEntries(db, kind, selection),
    findDuplicates: (cooperativeCode) => findDuplicates(db, cooperativeCode),
    close: () => db.close(),
  };
}
