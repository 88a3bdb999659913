/** What all commands of corrections share: their options, how they run, and what they print. */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { parseReason } from '../../domain/corrections.ts';
import { isIdentityCard } from '../../domain/membership/identity-card.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { parseId } from '../../domain/values/ids.ts';
import { parseCooperativeCode } from '../../domain/values/text.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import type { Awaitable } from '../../store/ports/awaitable.ts';
import type { CorrectionOptions, CorrectionResult, CorrectionStore } from '../../store/ports/corrections.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { addSettingOptions, configOf, type SettingOptions } from '../terminal/settings.ts';
import { systemUser } from '../terminal/system-user.ts';
import { describeCorrection, formatCorrection, formatRefused } from './correction-text.ts';

export interface CorrectionCommandOptions extends SettingOptions {
  readonly reason: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** Adds `--reason`, which is required, `--dry-run`, `--json` and `--db`. */
export const addCorrectionOptions = (command: Command): Command =>
  addSettingOptions(
    command.requiredOption('--reason <text>', 'why; kept in the history, without national IDs'),
    'REGISTRY_DB',
  )
    .option('--dry-run', 'change nothing, and show what would be changed')
    .option('--json', 'print one JSON document');

// Not parsers of commander's: it repeats a wrong value, which may be a mistyped national ID.

/** @throws CommandError with status 2 for what cannot be one */
export function readNumber(text: string): string {
  if (isIdentityCard(text)) return text;
  throw new CommandError(EXIT.usage, 'Expected national IDs of exactly 16 digits.');
}

/** @throws CommandError with status 2 for what cannot be one */
export function readMemberId(text: string): number {
  const id = parseId(text);
  if (id !== undefined) return id;
  throw new CommandError(EXIT.usage, 'Expected the id of a member: 1 to 12 digits.');
}

/** @throws CommandError with status 2 for what cannot be one */
export function readCode(text: string): string {
  const code = parseCooperativeCode(text);
  if (!(code instanceof FieldError)) return code;
  throw new CommandError(EXIT.usage, `Expected the code of a cooperative. ${code.message}`);
}

function readReason(text: string): string {
  const reason = parseReason(text);
  if (reason instanceof FieldError) throw new CommandError(EXIT.usage, `--reason: ${reason.message}`);
  return reason;
}

/**
 * Runs a correction and prints what it did.
 * @throws CommandError with status 1 when it was refused
 */
export async function correct(
  context: CliContext,
  options: CorrectionCommandOptions,
  work: (store: CorrectionStore, given: CorrectionOptions) => Awaitable<CorrectionResult>,
): Promise<void> {
  const isDryRun = options.dryRun === true;
  const reason = readReason(options.reason);
  const store = openConfiguredStorage(configOf(context, options), context.clock).openCorrections();
  try {
    const given = {
      ...{ reason, systemUser: systemUser(), isDryRun },
      nowSeconds: nowSeconds(context.clock),
    };
    const result = await work(store, given);
    if (options.json === true) context.out(formatJson(describeCorrection(result, isDryRun)));
    else if (result.outcome === 'done') context.out(formatCorrection(result));
    else context.err(formatRefused(result));
    if (result.outcome === 'refused') throw new CommandError(EXIT.refused, '');
    if (result.errorAfterCommit !== undefined) throw result.errorAfterCommit;
  } finally {
    await store.close();
  }
}
