/** What a command shows of persons is recorded before it is printed (docs/ledger.md#what-is-recorded). */
import { readingByUser } from '../../app/readings/user-reading.ts';
import { openConfiguredStorage } from '../../app/storage.ts';
import { FIELD_GROUPS, type FieldGroup, type Subject } from '../../store/ports/access-ledger.ts';
import { StorageError } from '../../store/ports/storage-error.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { configOf, type SettingOptions } from '../terminal/settings.ts';
import { describeUser } from '../terminal/system-user.ts';

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
  context: CliContext,
  options: SettingOptions,
  { fields, isOfLedger, ...subject }: ShownReading,
): Promise<void> {
  const { reading } = context;
  if (reading === undefined) throw new Error('No command runs.');
  const config = configOf(context, options);
  const storage = openConfiguredStorage(config, context.clock);
  const isMeant = namesSomebody(subject) || isOfLedger === true;
  // Where there is no registry, the command says so.
  if (config.accessLedger && isMeant && (await storage.exists())) {
    const shown = { route: reading.command, fields, subject };
    const ledger = storage.openCommandLedger();
    try {
      await ledger.record([readingByUser(context.clock, describeUser(config), shown)]);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const message = `The access ledger cannot be written, so nothing is shown: ${error.message}`;
      throw new CommandError(EXIT.refused, message);
    } finally {
      await ledger.close();
    }
  }
  recordNobody(context);
}

/** The command shows nobody. */
export function recordNobody({ reading }: CliContext): void {
  if (reading !== undefined) reading.isRecorded = true;
}

/** Everybody as of now, where a command shows many, or values of which nobody keeps whose they are. */
export async function recordAll(
  context: CliContext,
  options: SettingOptions,
  fields: readonly FieldGroup[] = FIELD_GROUPS,
): Promise<void> {
  const storage = openConfiguredStorage(configOf(context, options), context.clock);
  const { sequence } = await storage.readCondition();
  const all = { asOfSequence: sequence?.lastSequence ?? 0, cooperativeIds: null };
  await recordReading(context, options, { all, fields });
}
