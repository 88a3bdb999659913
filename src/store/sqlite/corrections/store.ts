/** Corrections of who is who, on a connection of their own. */

import { IDENTITY_CARD_ERROR, isIdentityCard } from '../../../domain/membership/identity-card.ts';
import { formatDate } from '../../../domain/values/date-time.ts';
import { FieldErrorList } from '../../../domain/values/errors.ts';
import type { CorrectionStore } from '../../contract/journal/corrections.ts';
import { type OperationOptions, openOperationScope } from '../journal/command-transaction.ts';
import { mergeCooperatives } from './cooperatives-merge.ts';
import { dismissDuplicate } from './duplicates-dismiss.ts';
import { acceptContradictions } from './duplicates-same-person.ts';
import { removeEntries } from './entries-remove.ts';
import { eraseCompletely } from './erase-completely.ts';
import { mergeMembers } from './members-merge.ts';
import { moveMember } from './members-move.ts';
import { transferMember } from './members-transfer.ts';
import { releaseNumber, replaceNumber } from './nid-replace.ts';
import { recordDeath } from './persons-deceased.ts';
import { runCorrection } from './run.ts';

/** @throws StorageError `unusable` when there is no registry */
export function openCorrections(databaseFile: string, options: OperationOptions): CorrectionStore {
  const scope = openOperationScope(databaseFile, options);
  const { db } = scope;
  return {
    replaceIdentityCard(old, current, options) {
      assertNumbers({ old, new: current });
      const year = Number(formatDate(options.nowSeconds, scope.format.zone).slice(0, 4));
      return runCorrection(scope, replaceNumber(db, { ...options, old, current, year }), options);
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
      runCorrection(scope, removeEntries(db, kind, selection, scope.format.zone), options),
    releaseIdentityCard(former, options) {
      assertNumbers({ former });
      return runCorrection(scope, releaseNumber(db, former), options);
    },
    mergeMembers: (fromId, intoId, options) =>
      runCorrection(scope, mergeMembers(db, fromId, intoId), options),
    dismissDuplicate: (one, other, options) => dismissDuplicate(scope, { one, other }, options),
    acceptContradictions(identityCard, options) {
      assertNumbers({ identity_card: identityCard });
      return acceptContradictions(scope, identityCard, options);
    },
    transferMember: (transfer, options) =>
      runCorrection(scope, transferMember(db, transfer, options.nowSeconds, scope.format.zone), options),
    moveMember: (memberId, code, options) => runCorrection(scope, moveMember(db, memberId, code), options),
    mergeCooperatives: (fromCode, intoCode, options) =>
      runCorrection(scope, mergeCooperatives(db, fromCode, intoCode), options),
    close: () => db.close(),
  };
}

/** @throws RegistryError `invalid` by name */
function assertNumbers(numbers: { readonly [name: string]: string }): void {
  const faults = new FieldErrorList();
  for (const [name, number] of Object.entries(numbers))
    if (!isIdentityCard(number)) faults.add(name, IDENTITY_CARD_ERROR.message);
  faults.throwIfAny();
}
