/** The commands of corrections: options, preview, confirmation and output. */

import { type Command, Option } from 'commander';
import type { Subject } from '../access/access-ledger.ts';
import { findMemberId, MEMBER_HELP, withMember } from '../journal/named-member.ts';
import type { AffectedMember } from '../journal/operations.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import type { StoredRow } from '../registry/stored/stored-data-types.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import {
  addConfirmOptions,
  asksYes,
  type ConfirmOptions,
  changedMeanwhile,
  confirm,
} from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, print, tell } from '../terminal/context.ts';
import { parseCode, readNumber } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { MEMBER_GROUPS, NAMES, recordAccess } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions, type SettingOptions } from '../terminal/settings.ts';
import type { FieldGroup } from '../values/declared-fields.ts';
import { FieldError, parseId } from '../values/errors.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { asMessage, type Message, say } from '../values/message.ts';
import { MAX_LENGTH, parseText } from '../values/text.ts';
import {
  type CorrectionDone,
  type CorrectionRefused,
  type CorrectionResult,
  formatChanges,
  formatRefused,
} from './correction-result.ts';
import {
  type CorrectionName,
  type CorrectionStore,
  openCorrections,
  parseDay,
  prepareCorrection,
} from './corrections/correction-store.ts';
import { type AgreedOptions, parseReason } from './corrections/run-correction.ts';

/** The caller must already have recorded the access to the compared people. */
const formatCompared = async (run: Run, { compared }: CorrectionResult): Promise<Message[]> =>
  compared === undefined
    ? []
    : withStore(openStoredData(run.storage), (store) => {
        const { memberIds, contradictions } = compared;
        const [replaced, holding] = memberIds.map((ids) =>
          ids.flatMap((id) => {
            const membership = store.findMembership(id);
            return membership === undefined ? [] : [formatMembership(membership.member)];
          }),
        ) as [Message[], Message[]];
        return [
          say('This person has the number that is replaced:'),
          ...replaced,
          say('This person has, or had, the new number:'),
          ...holding,
          contradictions.length === 0
            ? say('They have no conflicting data.')
            : say('Conflicting data: {contradictions}', {
                contradictions: contradictions.map(asMessage),
              }),
        ];
      });

function formatMembership(member: StoredRow): Message {
  const write = (value: StoredRow[string] | undefined) => hideIdentityCards(String(value ?? '–'));
  return say('  {member}: {name}, born {born}, gender {gender}, telephone {phone}, {status}', {
    member: `${member.cooperative}/${write(member.member_code)}`,
    name: write(member.full_name),
    born: write(member.date_of_birth),
    gender: write(member.gender),
    phone: write(member.mobile),
    status: asMessage(write(member.status)),
  });
}

export interface CorrectionCommandOptions extends PrintOptions, ConfirmOptions {
  readonly reason: string;
  readonly samePerson?: true;
  readonly release?: true;
}

const addReasonOption = (command: Command): Command =>
  addPrintOptions(
    command.requiredOption('--reason <text>', 'reason, kept in the history; no national IDs'),
    'REGISTRY_USER',
  );

export const addCorrectionOptions = (command: Command): Command =>
  addConfirmOptions(addReasonOption(command));

/**
 * @param access all national IDs and members that the correction names or shows
 * @throws CommandError with status 1 if the correction was refused or not confirmed; errors of `recordAccess`
 */
export async function correct(
  run: Run<CorrectionCommandOptions>,
  access: Pick<Subject, 'identityCards' | 'memberIds'> & { readonly fields?: readonly FieldGroup[] },
  work: (store: CorrectionStore, options: AgreedOptions) => CorrectionResult,
): Promise<void> {
  const { options, storage, user, now } = run;
  const isDryRun = options.dryRun === true;
  const reason = parseReason(options.reason);
  if (reason instanceof FieldError) throw new CommandError(EXIT.usage, `--reason: ${reason.message}`);
  // The access is recorded first: if the recording fails, nothing may be done or shown.
  await recordAccess(run, { fields: NAMES, ...access });
  const author = { reason, systemUser: user, nowSeconds: now };
  await withStore(openCorrections(storage), async (store) => {
    const preview = (samePerson?: boolean) => work(store, { ...author, samePerson, isDryRun: true });
    const agreed = await confirm(run, options, () => showPlan(run, preview));
    const result = work(store, { ...author, samePerson: options.samePerson, ...agreed, isDryRun });
    if (result.outcome === 'refused') throw await refused(run, result);
    if (result.correctionId === null && !isDryRun) throw changedMeanwhile();
    if (options.json === true) run.out(formatJson(describeCorrection(result, isDryRun)));
    else {
      // After the correction, the original data of the people can no longer be read.
      if (isDryRun) for (const line of await formatCompared(run, result)) print(run, line);
      for (const line of formatCorrection(result, options)) print(run, line);
    }
    if (result.errorAfterCommit !== undefined) throw result.errorAfterCommit;
  });
}

const ARE_ONE = 'Are they the same person? Both become one. [y/N]';

/**
 * Shows the plan of a correction. If the plan makes two people one person, first asks for confirmation.
 * @throws CommandError with status 1 if the correction is refused, or the operator answers no
 */
async function showPlan(
  run: Run<CorrectionCommandOptions>,
  preview: (samePerson?: boolean) => CorrectionResult,
): Promise<Pick<AgreedOptions, 'samePerson' | 'agreed'>> {
  let samePerson: boolean | undefined = run.options.samePerson;
  let plan = preview(samePerson);
  const isToBeAsked = plan.outcome === 'refused' && plan.compared !== undefined && run.ask !== undefined;
  if (isToBeAsked) {
    samePerson = true;
    plan = preview(samePerson);
  }
  if (plan.outcome === 'refused') throw await refused(run, plan);
  for (const line of await formatCompared(run, plan)) tell(run, line);
  if (isToBeAsked && !(await asksYes(run, ARE_ONE, new AbortController().signal)))
    throw new CommandError(EXIT.refused, 'Nothing was changed.');
  for (const line of [say('This would be done:'), ...formatChanges(plan)]) tell(run, line);
  return { samePerson, agreed: plan.fingerprint };
}

/** Prints the reason of a refusal. @returns the error for the caller to throw */
async function refused(run: Run<CorrectionCommandOptions>, result: CorrectionRefused): Promise<CommandError> {
  const { json, dryRun } = run.options;
  if (json === true) run.out(formatJson(describeCorrection(result, dryRun === true)));
  else for (const line of [...(await formatCompared(run, result)), ...formatRefused(result)]) tell(run, line);
  return new CommandError(EXIT.refused, '');
}

/** Omits the name, because programs may store the output. */
const describeMember = ({ id, cooperativeCode, memberCode, fate }: AffectedMember) => ({
  id,
  cooperative_code: cooperativeCode,
  member_code: hideIdentityCards(memberCode),
  fate,
});

function describeCorrection(result: CorrectionResult, isDryRun: boolean) {
  const { outcome, compared } = result;
  const [replaced, holding] = compared?.memberIds ?? [];
  const people = compared && { compared: { replaced, holding, contradictions: compared.contradictions } };
  if (outcome === 'refused') {
    const message = hideIdentityCards(String(result.message));
    const { collisions } = result;
    return { outcome, dry_run: isDryRun, correction_id: null, message, collisions, ...people };
  }
  return {
    outcome,
    dry_run: isDryRun,
    correction_id: result.correctionId,
    final: result.isFinal === true,
    rows: result.rows,
    members: result.members.map(describeMember),
    notes: result.notes,
    ...people,
    lock_seconds: Number((result.lockMs / 1000).toFixed(3)),
  };
}

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
      : [say('To undo it: {command}', { command: typedCommand(`imports undo ${id}`, options.db) })]),
  ];
}

// The commands of corrections, with their arguments and options (docs/correcting.md)

interface CorrectionCommand {
  readonly correction: CorrectionName;
  readonly description: string;
  /** Required values by name, as arguments (`<x>`) or options (`--x <y>`). */
  readonly asks: { readonly [name: string]: readonly [flags: string, help: string] };
  /** Optional values, and statements to which the operator agrees. */
  readonly mayAsk?: CorrectionCommand['asks'];
  /** True if no confirmation is needed, because no data is lost. */
  readonly isHarmless?: true;
}

const HOLDER = 'CODE/MEMBERCODE or the id of its holder';

const COMMANDS: { readonly [words: string]: CorrectionCommand } = {
  'nid replace': {
    correction: 'replaceIdentityCard',
    description: 'give a person another national ID; the old one still finds the person',
    asks: {
      old: ['<old>', `the number that was wrong or is no longer valid; or ${HOLDER}`],
      current: ['<new>', `the number that the person has now; or ${HOLDER}`],
    },
    mayAsk: {
      memberId: ['--member <member>', 'only this membership of the person gets NEW'],
      releases: [
        '--release',
        'take NEW from its former holder; if there is none, release OLD for another person',
      ],
      samePerson: ['--same-person', 'the present or former holder of NEW is the same person: merge both'],
    },
  },
  'nid release': {
    correction: 'releaseIdentityCard',
    description: 'release a former national ID of a person for another person',
    asks: { former: ['<number>', 'the former number, which then finds no person'] },
  },
  'members merge': {
    correction: 'mergeMembers',
    description: 'merge a member into another that is the same person',
    asks: {
      fromId: ['<from>', `the member to merge: ${MEMBER_HELP}`],
      intoId: ['<into>', 'the member to keep'],
    },
  },
  'members move': {
    correction: 'moveMember',
    description: 'move a member with all entries to another cooperative',
    asks: { memberId: ['<member>', MEMBER_HELP], code: ['--to <code>', 'code of the cooperative'] },
  },
  'members transfer': {
    correction: 'transferMember',
    description: 'end a membership, which keeps its history, and begin one in another cooperative',
    asks: {
      memberId: ['<member>', MEMBER_HELP],
      to: ['--to <code>', 'code of the other cooperative'],
      memberCode: ['--code <code>', 'member code there'],
      on: ['--on <date>', 'first day there, YYYY-MM-DD'],
    },
  },
  'cooperatives merge': {
    correction: 'mergeCooperatives',
    description: 'move all members of a cooperative to another, and dissolve it',
    asks: {
      fromCode: ['<from>', 'code of the cooperative that is dissolved'],
      intoCode: ['<into>', 'code of the cooperative that gets its members'],
    },
  },
  'persons deceased': {
    correction: 'recordDeath',
    description: 'record the death of a person, in every membership',
    asks: {
      nid: ['<nid>', 'national ID of the person'],
      on: ['--on <date>', 'day of the death, YYYY-MM-DD'],
    },
  },
  'persons erase': {
    correction: 'erasePerson',
    description: 'remove all identifying data of a person from the registry; this cannot be undone',
    asks: { nid: ['<nid>', 'national ID of the person; a former one too'] },
  },
  'duplicates dismiss': {
    correction: 'dismissDuplicate',
    description: 'set aside a checked pair of members who are two people',
    asks: { oneId: ['<member>', MEMBER_HELP], otherId: ['<other>', 'the other member'] },
    isHarmless: true,
  },
  'duplicates same-person': {
    correction: 'acceptContradictions',
    description: 'confirm that conflicting records were checked and belong to one person',
    asks: { nid: ['<person>', `the national ID of the person, or ${HOLDER}`] },
    isHarmless: true,
  },
};

export function declareCorrections(group: Command, context: CliContext): void {
  for (const [words, declared] of Object.entries(COMMANDS)) {
    const [parent, name] = words.split(' ') as [string, string];
    if (parent === group.name()) declareCorrection(group.command(name), context, declared);
  }
}

type ParsedOptions = CorrectionCommandOptions & { readonly [option: string]: unknown };

const isArgument = (flags: string): boolean => flags.startsWith('<');
const attributeOf = (flags: string): string => new Option(flags).attributeName();

function declareCorrection(command: Command, context: CliContext, declared: CorrectionCommand): void {
  const { correction, description, asks, mayAsk = {}, isHarmless } = declared;
  command.description(description);
  for (const [flags, help] of Object.values(asks))
    if (isArgument(flags)) command.argument(flags, help);
    else command.requiredOption(flags, help);
  if (isHarmless) addReasonOption(command);
  else addCorrectionOptions(command);
  for (const [flags, help] of Object.values(mayAsk)) command.option(flags, help);
  const fields = mayAsk.samePerson === undefined ? NAMES : MEMBER_GROUPS;
  command.action(
    acting<ParsedOptions, string[]>(context, async (run, ...inputs) => {
      const { options } = run;
      const values = { ...asks, ...mayAsk };
      const texts = new Map<string, string>();
      for (const [name, [flags]] of Object.entries(values)) {
        const text = isArgument(flags) ? inputs.shift() : options[attributeOf(flags)];
        if (text !== undefined) texts.set(name, String(text));
      }
      const { names, run: make } = await prepareCorrection(correction, readersOf(run, values, texts));
      const confirmed = isHarmless ? { ...run, options: { ...options, yes: true as const } } : run;
      await correct(confirmed, { ...names, fields }, (store, how) =>
        make(store, { ...how, releases: options.release }),
      );
    }),
  );
}

// Commander must not parse the values: its errors repeat a wrong value, which may be a mistyped national ID.
function readersOf(run: Run, asks: CorrectionCommand['asks'], texts: ReadonlyMap<string, string>) {
  const textOf = (name: string) => texts.get(name) ?? '';
  function accept<T>(name: string, value: T | FieldError): T {
    if (!(value instanceof FieldError)) return value;
    throw new CommandError(EXIT.usage, `${asks[name]?.[0].split(' ')[0]}: ${value.message}`);
  }
  return {
    membersOf: (identityCard: string) =>
      withStore(openStoredData(run.storage), (store) =>
        store.findMembers({ identityCard }).map(({ id }) => id),
      ),
    number: (name: string) => readNumber(textOf(name)),
    holder: (name: string) => findNumber(run, textOf(name)),
    member: (name: string) => findMemberId(run, textOf(name)),
    optionalMember: (name: string) => (texts.has(name) ? findMemberId(run, textOf(name)) : undefined),
    code: (name: string) => parseCode(textOf(name)),
    memberCode: (name: string) => accept(name, parseText(textOf(name), MAX_LENGTH.memberCode)),
    day: (name: string) => accept(name, parseDay(textOf(name), run.zone, run.now)),
  };
}

/**
 * @param text a national ID; or, to keep the ID off the command line, a membership as `CODE/MEMBERCODE` or id
 * @throws CommandError with status 2 for a malformed number; errors of `withMember`
 */
async function findNumber(run: Run, text: string): Promise<string> {
  if (!text.includes('/') && parseId(text) === undefined) return readNumber(text);
  return withMember(run, text, (store, id) => {
    const membership = store.findMembership(id);
    if (membership === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    return String(membership.member.identity_card);
  });
}
