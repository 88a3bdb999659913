/** Corrections of who is who, on a connection of their own. */
import { FieldErrorList } from '../../../domain/errors.ts';
import { IDENTITY_CARD_ERROR, isIdentityCard } from '../../../domain/identity-card.ts';
import type { CorrectionOptions, CorrectionResult, CorrectionStore } from '../../ports/corrections.ts';
import { openDatabase } from '../connection/open-database.ts';
import { clearFreeSpace } from '../erasure/free-space.ts';
import { identifyPerson } from '../held-data/identify.ts';
import { REGISTRY_SCHEMA } from '../migrations/registry.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { mergeCooperatives } from './cooperatives-merge.ts';
import { removeEntries } from './entries-remove.ts';
import { mergeMembers } from './members-merge.ts';
import { moveMember } from './members-move.ts';
import { releaseNumber, replaceNumber } from './nid-replace.ts';
import { recordDeath } from './persons-deceased.ts';
import { ERASED_BEFORE, erasePerson } from './persons-erase.ts';
import { type CorrectionScope, runCorrection } from './run.ts';

const CACHE_KIB = 64 * 1024;

/**
 * @param format of the read model, made when something is corrected
 * @param monotonicMs of a clock that never steps back
 * @param waitMs for another process's lock
 * @throws StorageError `unusable` when there is no registry
 */
export function openCorrections(
  databaseFile: string,
  format: () => ReadModelFormat,
  monotonicMs: () => number,
  waitMs: number,
): CorrectionStore {
  const db = openDatabase(databaseFile, {
    ...{ waitMs, schema: REGISTRY_SCHEMA, tempStore: 'FILE', cacheKiB: CACHE_KIB },
  });
  // The log is copied back after a correction, when its lock is free.
  db.raw.pragma('wal_autocheckpoint = 0');
  const scope = { db, format, monotonicMs, waitMs };
  return {
    replaceIdentityCard(old, current, options) {
      assertNumbers({ old, new: current });
      const replacement = { old, current, releases: options.releases === true };
      return runCorrection(scope, replaceNumber(db, replacement), options);
    },
    recordDeath(identityCard, date, options) {
      assertNumbers({ identity_card: identityCard });
      return runCorrection(scope, recordDeath(db, identityCard, date), options);
    },
    erasePerson(identityCard, options) {
      assertNumbers({ identity_card: identityCard });
      return eraseCompletely(scope, identityCard, options);
    },
    removeEntries: (kind, selection, options) =>
      runCorrection(scope, removeEntries(db, kind, selection), options),
    releaseIdentityCard(former, options) {
      assertNumbers({ former });
      return runCorrection(scope, releaseNumber(db, former), options);
    },
    mergeMembers: (fromId, intoId, options) =>
      runCorrection(scope, mergeMembers(db, fromId, intoId), options),
    moveMember: (memberId, code, options) => runCorrection(scope, moveMember(db, memberId, code), options),
    mergeCooperatives: (fromCode, intoCode, options) =>
      runCorrection(scope, mergeCooperatives(db, fromCode, intoCode), options),
    close: () => db.close(),
  };
}

/** Also from the log and the free space of the file. */
function eraseCompletely(
  scope: CorrectionScope,
  identityCard: string,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const texts = isIdentityCard(identityCard) ? (identifyPerson(db, identityCard)?.numbers ?? []) : [];
  const result = runCorrection(scope, erasePerson(db, identityCard, options.nowSeconds), options);
  if (result.outcome === 'refused') {
    // The command is repeated when the log could not be emptied.
    if (result.message === ERASED_BEFORE) clearFreeSpace(db, [identityCard], scope.waitMs);
    return result;
  }
  if (result.correctionId === null || clearFreeSpace(db, texts, scope.waitMs))
    return { ...result, isFinal: true };
  const left =
    'Another process reads the registry, so its log or free space may still hold the values: restart the ' +
    'service, then run the command again.';
  return { ...result, isFinal: true, notes: [...result.notes, left] };
}

/** @throws RegistryError `invalid` by name */
function assertNumbers(numbers: { readonly [name: string]: string }): void {
  const faults = new FieldErrorList();
  for (const [name, number] of Object.entries(numbers))
    if (!isIdentityCard(number)) faults.add(name, IDENTITY_CARD_ERROR.message);
  faults.throwIfAny();
}
