/** Erases a person from the rows, and from the log and free space of the file. */
import { asMessage, say, type Text } from '../../../domain/values/message.ts';
import type {
  CorrectionOptions,
  CorrectionRefused,
  CorrectionResult,
} from '../../contract/journal/corrections.ts';
import { keepErasures } from '../identity/erasures.ts';
import type { OperationScope } from '../journal/command-transaction.ts';
import { clearFreeSpace, isUncleared, type Uncleared } from '../persons/free-space.ts';
import { ERASED_BEFORE, erasePerson } from './persons-erase.ts';
import { refuse, runCorrection } from './run.ts';

const LEFT: { readonly [reason in Uncleared]: Text } = {
  readers: say(
    'Another process reads the registry, so the log or free space of the database may still hold the ' +
      'values: restart the service, then run the command again.',
    {},
  ),
  writers: say(
    'Another process writes to the registry, so the log or free space of the database may still hold the ' +
      'values: run the command again.',
    {},
  ),
  disk: say(
    'The disk is full, so the log or free space of the database may still hold the values: make as much ' +
      'room as the database takes, then run the command again.',
    {},
  ),
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
  const refused = (left: Text): CorrectionRefused =>
    refuse(say('{erased} {left}', { erased: asMessage(ERASED_BEFORE), left: asMessage(left) }));
  if (isDryRun === true)
    return refused(
      say('The log or free space of the database may still hold values: repeat it without --dry-run.'),
    );
  const uncleared = clearFreeSpace(db, nowSeconds, waitMs);
  if (uncleared !== undefined) return refused(LEFT[uncleared]);
  return refused(say('The log and free space of the database hold nothing of them any more.'));
}
