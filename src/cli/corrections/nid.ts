/** `nid`: national IDs that were wrong or were reissued (docs/correcting.md#a-wrong-national-id). */
import type { Command } from 'commander';
import { parseId } from '../../domain/values/ids.ts';
import { withMember } from '../persons/named-member.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import {
  addCorrectionOptions,
  type CorrectionCommandOptions,
  correct,
  readNumber,
} from './correction-command.ts';

interface ReplaceOptions extends CorrectionCommandOptions {
  readonly release?: true;
}

const HOLDER = 'CODE/MEMBERCODE or the id of who has it';

/** Members keep their numbers off the command line. @throws CommandError with status 2 for another number */
async function numberOf(
  context: CliContext,
  options: CorrectionCommandOptions,
  text: string,
): Promise<string> {
  if (!text.includes('/') && parseId(text) === undefined) return readNumber(text);
  return withMember(context, options, text, async (store, id) => {
    const found = await store.findMembership(id);
    if (found === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    return String(found.member.identity_card);
  });
}

export function declareNid(nid: Command, context: CliContext): void {
  declareReplace(nid, context);
  declareRelease(nid, context);
}

function declareReplace(nid: Command, context: CliContext): void {
  addCorrectionOptions(nid.command('replace'))
    .description('give a person another national ID; the old one keeps finding the person')
    .argument('<old>', `the number that was wrong or is no longer valid; or ${HOLDER}`)
    .argument('<new>', `the number that the person has now; or ${HOLDER}`)
    .option(
      '--release',
      'take NEW from the person who had it before; if nobody had, let OLD be given to somebody else',
    )
    .action(async (old: string, current: string, options: ReplaceOptions) => {
      const releases = options.release === true;
      const numbers = [
        await numberOf(context, options, old),
        await numberOf(context, options, current),
      ] as const;
      await correct(context, options, { identityCards: numbers }, (store, given) =>
        store.replaceIdentityCard(...numbers, { ...given, releases }),
      );
    });
}

function declareRelease(nid: Command, context: CliContext): void {
  addCorrectionOptions(nid.command('release'))
    .description('let a former national ID of a person be given to somebody else')
    .argument('<number>', 'the former number, which finds nobody then')
    .action(async (number: string, options: CorrectionCommandOptions) => {
      const former = readNumber(number);
      const named = { identityCards: [former] };
      await correct(context, options, named, (store, given) => store.releaseIdentityCard(former, given));
    });
}
