/** Erases a person from the rows, and from the log and free space of the file. */
import type {
  CorrectionOptions,
  CorrectionRefused,
  CorrectionResult,
} from '../../contract/journal/corrections.ts';
import { keepErasures } from '../identity/erasures.ts';
import type { OperationScope } from '../journal/command-transaction.ts';
import { clearFreeSpace, isUncleared, type Uncleared } from '../persons/free-space.ts';
import { ERASED_BEFORE, erasePerson } from './persons-erase.ts';
import { runCorrection } from './run.ts';

const MAY_HOLD = 'so the log or free space of the database may still hold the values';
const AGAIN = 'then run the command again';
const LEFT: { readonly [reason in Uncleared]: string } = {
  readers: `Another process reads the registry, ${MAY_HOLD}: restart the service, ${AGAIN}.`,
  writers: `Another process writes to the registry, ${MAY_HOLD}: run the command again.`,
  disk: `The disk is full, ${MAY_HOLD}: make as much room as the database takes, ${AGAIN}.`,
};

/** @throws RegistryError as every correction */
export function eraseCompletely(
  scope: OperationScope,
  identityCard: string,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const mayBeRepeated = isUncleared(db);
  const result = runCorrection(scope, erasePerson(db, identityCard, options.nowSeconds), options);
  if (result.outcome === 'refused') {
    if (result.message !== ERASED_BEFORE) return result;
    if (options.isDryRun !== true) keepErasures(db, db.raw.name);
    return mayBeRepeated ? clearAgain(scope, options) : result;
  }
  if (result.correctionId === null) return { ...result, isFinal: true };
  try {
    keepErasures(db, db.raw.name);
    const uncleared = clearFreeSpace(db, options.nowSeconds, scope.waitMs);
    const notes = uncleared === undefined ? [] : [LEFT[uncleared]];
    return { ...result, isFinal: true, notes: [...result.notes, ...notes] };
  } catch (errorAfterCommit) {
    return { errorAfterCommit, ...result, isFinal: true };
  }
}

/** The command is repeated when it was killed, or could not clear everything. */
function clearAgain(
  { db, waitMs }: OperationScope,
  { isDryRun, nowSeconds }: CorrectionOptions,
): CorrectionRefused {
  const refused = (message: string): CorrectionRefused => ({
    outcome: 'refused',
    message: `${ERASED_BEFORE} ${message}`,
    collisions: [],
  });
  if (isDryRun === true)
    return refused(
      'The log or free space of the database may still hold values: repeat it without --dry-run.',
    );
  const uncleared = clearFreeSpace(db, nowSeconds, waitMs);
  if (uncleared !== undefined) return refused(LEFT[uncleared]);
  return refused('The log and free space of the database hold nothing of them any more.');
}
