/** The corrections as commands: how each asks for what it takes (docs/correcting.md). */
import { type Command, Option } from 'commander';
import {
  type Agreement,
  CORRECTIONS,
  type Correction,
  parsersOf,
  prepareCorrection,
} from '../../app/operations/corrections.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { parseId } from '../../domain/values/ids.ts';
import { findMemberId, MEMBER_HELP, withMember } from '../persons/named-member.ts';
import { MEMBER_GROUPS, NAMES } from '../persons/record-reading.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { acting, type Run } from '../terminal/run.ts';
import { withStore } from '../terminal/with-store.ts';
import {
  addCorrectionOptions,
  addReasonOption,
  type CorrectionCommandOptions,
  correct,
  readNumber,
} from './correction-command.ts';

interface CorrectionCommand {
  readonly correction: Correction;
  readonly description: string;
  /** For each value that the correction takes: `<argument>` or `--option <value>`, and its help. */
  readonly asks: { readonly [name: string]: readonly [flags: string, help: string] };
  /** The same of what may be left out. */
  readonly mayAsk?: CorrectionCommand['asks'];
  /** Of what may be agreed to: the option and its help. */
  readonly agreements?: { readonly [name in Agreement]?: readonly [flags: string, help: string] };
  /** Nothing is lost by it, so nobody is asked. */
  readonly isHarmless?: true;
}

const HOLDER = 'CODE/MEMBERCODE or the id of who has it';

const COMMANDS: { readonly [words: string]: CorrectionCommand } = {
  'nid replace': {
    correction: CORRECTIONS.replaceIdentityCard,
    description: 'give a person another national ID; the old one keeps finding the person',
    asks: {
      old: ['<old>', `the number that was wrong or is no longer valid; or ${HOLDER}`],
      current: ['<new>', `the number that the person has now; or ${HOLDER}`],
    },
    mayAsk: { memberId: ['--member <member>', 'only this membership of the person gets NEW'] },
    agreements: {
      releases: [
        '--release',
        'take NEW from the person who had it before; if nobody had, let OLD be given to somebody else',
      ],
      samePerson: ['--same-person', 'whoever has NEW, or had it, is the same person: both become one'],
    },
  },
  'nid release': {
    correction: CORRECTIONS.releaseIdentityCard,
    description: 'let a former national ID of a person be given to somebody else',
    asks: { former: ['<number>', 'the former number, which finds nobody then'] },
  },
  'members merge': {
    correction: CORRECTIONS.mergeMembers,
    description: 'give everything of one member to another who is the same person',
    asks: {
      fromId: ['<from>', `the member that goes: ${MEMBER_HELP}`],
      intoId: ['<into>', 'the member that stays'],
    },
  },
  'members move': {
    correction: CORRECTIONS.moveMember,
    description: 'move a member with everything to another cooperative',
    asks: { memberId: ['<member>', MEMBER_HELP], code: ['--to <code>', 'code of the cooperative'] },
  },
  'members transfer': {
    correction: CORRECTIONS.transferMember,
    description: 'end a membership, which keeps its past, and begin one in another cooperative',
    asks: {
      memberId: ['<member>', MEMBER_HELP],
      to: ['--to <code>', 'code of the other cooperative'],
      memberCode: ['--code <code>', 'member code there'],
      on: ['--on <date>', 'first day there, YYYY-MM-DD'],
    },
  },
  'cooperatives merge': {
    correction: CORRECTIONS.mergeCooperatives,
    description: 'move all members of a cooperative to another, and dissolve it',
    asks: {
      fromCode: ['<from>', 'code of the cooperative that is dissolved'],
      intoCode: ['<into>', 'code of the cooperative that gets its members'],
    },
  },
  'persons deceased': {
    correction: CORRECTIONS.recordDeath,
    description: 'record the death of a person, in every membership',
    asks: {
      nid: ['<nid>', 'national ID of the person'],
      on: ['--on <date>', 'day of the death, YYYY-MM-DD'],
    },
  },
  'persons erase': {
    correction: CORRECTIONS.erasePerson,
    description: 'remove what says who a person is, everywhere in the registry; it cannot be undone',
    asks: { nid: ['<nid>', 'national ID of the person, also a former one'] },
  },
  'duplicates dismiss': {
    correction: CORRECTIONS.dismissDuplicate,
    description: 'set a pair aside: somebody has looked, and they are two people',
    asks: { oneId: ['<member>', MEMBER_HELP], otherId: ['<other>', 'the other member'] },
    isHarmless: true,
  },
  'duplicates same-person': {
    correction: CORRECTIONS.acceptContradictions,
    description: 'somebody has looked: memberships that contradict each other are of one person',
    asks: { nid: ['<person>', `the national ID of the person, or ${HOLDER}`] },
    isHarmless: true,
  },
};

/** Declares the corrections of a group, such as `nid`, which is named by its command. */
export function declareCorrections(group: Command, context: CliContext): void {
  for (const [words, declared] of Object.entries(COMMANDS)) {
    const [parent, name] = words.split(' ') as [string, string];
    if (parent === group.name()) declareCorrection(group.command(name), context, declared);
  }
}

type Options = CorrectionCommandOptions & { readonly [option: string]: unknown };

const attributeOf = (flags: string): string => new Option(flags).attributeName();

function declareCorrection(command: Command, context: CliContext, declared: CorrectionCommand): void {
  const { correction, description, asks, mayAsk = {}, agreements = {}, isHarmless } = declared;
  command.description(description);
  const isArgument = (flags: string) => flags.startsWith('<');
  for (const [flags, help] of Object.values(asks))
    if (isArgument(flags)) command.argument(flags, help);
    else command.requiredOption(flags, help);
  if (isHarmless) addReasonOption(command);
  else addCorrectionOptions(command);
  for (const [flags, help] of [...Object.values(mayAsk), ...Object.values(agreements)])
    command.option(flags, help);
  const isComparing = correction.agreements.includes('samePerson');
  command.action(
    acting<Options, string[]>(context, async (run, ...given) => {
      const { options } = run;
      const textOf = (flags: string) => (isArgument(flags) ? given.shift() : options[attributeOf(flags)]);
      const asked = { ...asks, ...mayAsk };
      const texts = new Map(
        Object.entries(asked).flatMap(([name, [flags]]) => {
          const text = textOf(flags);
          return text === undefined ? [] : [[name, String(text)] as const];
        }),
      );
      const { names, run: make } = await prepareCorrection(correction, readersOf(run, asked, texts));
      const agreed = isHarmless ? { ...run, options: { ...options, yes: true as const } } : run;
      const agreedTo = Object.fromEntries(
        Object.entries(agreements).map(([name, [flags]]) => [name, options[attributeOf(flags)] as boolean]),
      );
      const shown = { ...names, fields: isComparing ? MEMBER_GROUPS : NAMES };
      await correct(agreed, shown, (store, how) => make(store, { ...agreedTo, ...how }));
    }),
  );
}

// Not parsers of commander's: it repeats a wrong value, which may be a mistyped national ID.
function readersOf(run: Run, asks: CorrectionCommand['asks'], texts: ReadonlyMap<string, string>) {
  const textOf = (name: string) => texts.get(name) ?? '';
  const parsers = parsersOf(run.zone, run.now);
  function accept<T>(name: string, value: T | FieldError): T {
    if (!(value instanceof FieldError)) return value;
    throw new CommandError(EXIT.usage, `${asks[name]?.[0].split(' ')[0]}: ${value.message}`);
  }
  return {
    isGiven: (name: string) => texts.has(name),
    membersOf: (identityCard: string) =>
      withStore(run.storage.openHeldData(), (store) =>
        store.findMembers({ identityCard }).map(({ id }) => id),
      ),
    number: (name: string) => readNumber(textOf(name)),
    holder: (name: string) => findNumber(run, textOf(name)),
    member: (name: string) => findMemberId(run, textOf(name)),
    code: (name: string) => parseCode(textOf(name)),
    memberCode: (name: string) => accept(name, parsers.memberCode(textOf(name))),
    day: (name: string) => accept(name, parsers.day(textOf(name))),
  };
}

/** Members keep their numbers off the command line. @throws CommandError with status 2 for another number */
async function findNumber(run: Run, text: string): Promise<string> {
  if (!text.includes('/') && parseId(text) === undefined) return readNumber(text);
  return withMember(run, text, (store, id) => {
    const found = store.findMembership(id);
    if (found === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    return String(found.member.identity_card);
  });
}
