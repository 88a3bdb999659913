/** What a command shows of persons is recorded before it is printed (docs/ledger.md#what-is-recorded). */
import { readingByUser } from '../../app/readings/user-reading.ts';
import { FIELD_GROUPS, type FieldGroup, type Subject } from '../../store/contract/access-ledger.ts';
import { StorageError } from '../../store/contract/storage-error.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import type { Run } from '../terminal/run.ts';

/** What is shown of members in short: names and codes. */
export const NAMES: readonly FieldGroup[] = ['identity'];
/** What is shown of a membership without its entries. */
export const MEMBER_GROUPS: readonly FieldGroup[] = ['identity', 'contact'];

/** What a command is about to show. */
export interface ShownReading extends Subject {
  readonly fields: readonly FieldGroup[];
  /** Who reads the ledger is recorded even where it names nobody. */
  readonly isOfLedger?: true;
}

const namesSomebody = ({ identityCards = [], memberIds = [], all }: Subject): boolean =>
  identityCards.length > 0 || memberIds.length > 0 || all !== undefined;

/**
 * Records what the command shows next, unless that is nobody.
 * @throws CommandError with status 1 when it cannot be recorded: nothing may be shown then
 */
export async function recordReading(
  run: Run,
  { fields, isOfLedger, ...subject }: ShownReading,
): Promise<void> {
  const { reading, config, storage, clock, user } = run;
  if (reading === undefined) throw new Error('No command runs.');
  const isMeant = namesSomebody(subject) || isOfLedger === true;
  // Where there is no registry, the command says so.
  if (config.accessLedger && isMeant && storage.exists()) {
    const shown = { route: reading.command, fields, subject };
    const ledger = storage.openCommandLedger();
    try {
      await ledger.record([readingByUser(clock, user, shown)]);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const message = `The access ledger cannot be written, so nothing is shown: ${error.message}`;
      throw new CommandError(EXIT.refused, message);
    } finally {
      await ledger.close();
    }
  }
  recordNobody(run);
}

/** The command shows nobody. */
export function recordNobody({ reading }: CliContext): void {
  if (reading !== undefined) reading.isRecorded = true;
}

/** Everybody as of now, where a command shows many, or values of which nobody keeps whose they are. */
export async function recordAll(run: Run, fields: readonly FieldGroup[] = FIELD_GROUPS): Promise<void> {
  const { sequence } = await run.storage.readCondition();
  const all = { asOfSequence: sequence?.lastSequence ?? 0, cooperativeIds: null };
  await recordReading(run, { all, fields });
}
