/** What all commands of corrections share: their options, how they run, and what they print. */
import type { Command } from 'commander';
import type { Options as CorrectionGiven } from '../../app/operations/corrections.ts';
import { formatChanges, formatRefused } from '../../app/wording/correction-changes.ts';
import { parseReason } from '../../domain/corrections.ts';
import { hideIdentityCards, isIdentityCard } from '../../domain/membership/identity-card.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { type Message, say } from '../../domain/values/message.ts';
import type { FieldGroup, Subject } from '../../store/contract/access-ledger.ts';
import type {
  CorrectionDone,
  CorrectionRefused,
  CorrectionResult,
  CorrectionStore,
  NamedMember,
} from '../../store/contract/journal/corrections.ts';
import { NAMES, recordReading } from '../persons/record-reading.ts';
import {
  addConfirmOptions,
  asksYes,
  type ConfirmOptions,
  changedMeanwhile,
  confirm,
} from '../terminal/confirm.ts';
import { CommandError, EXIT, print, tell } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { proposed } from '../terminal/proposed-command.ts';
import type { Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions, type SettingOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { describeCompared, formatCompared } from './compared-people.ts';

export interface CorrectionCommandOptions extends PrintOptions, ConfirmOptions {
  readonly reason: string;
  /** Two people are one. */
  readonly samePerson?: true;
}

/** Adds `--reason`, which is required, `--db`, `--as` and `--json`. */
export const addReasonOption = (command: Command): Command =>
  addPrintOptions(
    command.requiredOption('--reason <text>', 'why; kept in the history, without national IDs'),
    'REGISTRY_USER',
  );

/** Adds these, `--yes` and `--dry-run`. */
export const addCorrectionOptions = (command: Command): Command =>
  addConfirmOptions(addReasonOption(command));

// Not parsers of commander's: it repeats a wrong value, which may be a mistyped national ID.

/** @throws CommandError with status 2 for what cannot be one */
export function readNumber(text: string): string {
  if (isIdentityCard(text)) return text;
  throw new CommandError(EXIT.usage, 'Expected national IDs of exactly 16 digits.');
}

function readReason(text: string): string {
  const reason = parseReason(text);
  if (reason instanceof FieldError) throw new CommandError(EXIT.usage, `--reason: ${reason.message}`);
  return reason;
}

/** The numbers and members that a correction is about. Whom it shows is among them. */
type Named = Pick<Subject, 'identityCards' | 'memberIds'>;
type Work = (store: CorrectionStore, given: CorrectionGiven) => CorrectionResult;

/**
 * Records who is shown, shows what a correction would do, asks, runs it and prints what it did.
 * @throws CommandError with status 1 when it was refused, when nobody has agreed, or as `recordReading`
 */
export async function correct(
  run: Run<CorrectionCommandOptions>,
  { fields = NAMES, ...named }: Named & { readonly fields?: readonly FieldGroup[] },
  work: Work,
): Promise<void> {
  const { options, storage, user, now } = run;
  const isDryRun = options.dryRun === true;
  const reason = readReason(options.reason);
  // Before anything is changed: what was done could not be shown otherwise.
  await recordReading(run, { ...named, fields });
  const given = { reason, systemUser: user, nowSeconds: now };
  await withStore(storage.openCorrections(), async (store) => {
    let samePerson: boolean | undefined = options.samePerson;
    const agreed = await confirm(run, options, async () => {
      const look = (isOne?: boolean) => work(store, { ...given, samePerson: isOne, isDryRun: true });
      const [plan, isOne] = await showPlan(run, look);
      samePerson = isOne;
      return plan.fingerprint;
    });
    const result = work(store, { ...given, samePerson, isDryRun, agreed });
    if (result.outcome === 'refused') throw await refused(run, result);
    if (result.correctionId === null && !isDryRun) throw changedMeanwhile();
    if (options.json === true) run.out(formatJson(describeCorrection(result, isDryRun)));
    else {
      // What was done cannot be read as it was.
      if (isDryRun) for (const line of await comparedLines(run, result)) print(run, line);
      for (const line of formatCorrection(result, options)) print(run, line);
    }
    if (result.errorAfterCommit !== undefined) throw result.errorAfterCommit;
  });
}

const ARE_ONE = 'Are they the same person? Both become one. [y/N]';

/**
 * Shows what would be done, and asks whether two people are one where that would make them one.
 * @param look a dry run
 * @returns it, and whether they are
 * @throws CommandError with status 1 when it was refused, or they are not
 */
async function showPlan(
  run: Run<CorrectionCommandOptions>,
  look: (samePerson?: boolean) => CorrectionResult,
): Promise<readonly [plan: CorrectionDone, samePerson: boolean | undefined]> {
  let samePerson: boolean | undefined = run.options.samePerson;
  let plan = look(samePerson);
  const isToBeAsked = plan.outcome === 'refused' && plan.compared !== undefined && run.ask !== undefined;
  if (isToBeAsked) {
    samePerson = true;
    plan = look(samePerson);
  }
  if (plan.outcome === 'refused') throw await refused(run, plan);
  for (const line of await comparedLines(run, plan)) tell(run, line);
  if (isToBeAsked && !(await asksYes(run, ARE_ONE, new AbortController().signal)))
    throw new CommandError(EXIT.refused, 'Nothing was changed.');
  for (const line of formatPlan(plan)) tell(run, line);
  return [plan, samePerson];
}

const comparedLines = async (run: Run, { compared }: CorrectionResult): Promise<Message[]> =>
  compared === undefined ? [] : formatCompared(run, compared);

/** Prints why. @returns what to throw */
async function refused(run: Run<CorrectionCommandOptions>, result: CorrectionRefused): Promise<CommandError> {
  const { json, dryRun } = run.options;
  if (json === true) run.out(formatJson(describeCorrection(result, dryRun === true)));
  else for (const line of [...(await comparedLines(run, result)), ...formatRefused(result)]) tell(run, line);
  return new CommandError(EXIT.refused, '');
}

/** Without the name: what a program prints may be kept. */
const describeMember = ({ id, cooperativeCode, memberCode, fate }: NamedMember) => ({
  id,
  cooperative_code: cooperativeCode,
  member_code: hideIdentityCards(memberCode),
  fate,
});

/** The same for what was done and what a dry run would do. */
const describeCorrection = (result: CorrectionResult, isDryRun: boolean) =>
  result.outcome === 'done'
    ? {
        outcome: result.outcome,
        dry_run: isDryRun,
        correction_id: result.correctionId,
        final: result.isFinal === true,
        rows: result.rows,
        members: result.members.map(describeMember),
        notes: result.notes,
        ...(result.compared && { compared: describeCompared(result.compared) }),
        lock_seconds: Number((result.lockMs / 1000).toFixed(3)),
      }
    : {
        outcome: result.outcome,
        dry_run: isDryRun,
        correction_id: null,
        message: hideIdentityCards(String(result.message)),
        collisions: result.collisions,
        ...(result.compared && { compared: describeCompared(result.compared) }),
      };

/** What would be done, before anybody is asked; a line each. */
const formatPlan = (result: CorrectionDone): Message[] => [
  say('This would be done:'),
  ...formatChanges(result),
];

/** @param options of the command. @returns lines */
function formatCorrection(result: CorrectionDone, options: SettingOptions): Message[] {
  const { correctionId: id, lockMs } = result;
  const changes = formatChanges(result);
  if (id === null) return [say('Nothing was changed. Without --dry-run:'), ...changes];
  const locked = (lockMs / 1000).toFixed(3);
  return [
    result.isRepeated === true
      ? say('Nothing was changed:')
      : say('Correction {id} is done (locked for {locked} s):', { id, locked }),
    ...changes,
    ...(result.isFinal === true
      ? []
      : [say('To undo it: {command}', { command: proposed(`imports undo ${id}`, options) })]),
  ];
}
