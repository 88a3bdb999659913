/** `nid`: national IDs that were wrong or were reissued (docs/correcting.md#a-wrong-national-id). */
import type { Command } from 'commander';
import type { CliContext } from '../terminal/context.ts';
import {
  addCorrectionOptions,
  type CorrectionCommandOptions,
  correct,
  readNumber,
} from './correction-command.ts';

interface ReplaceOptions extends CorrectionCommandOptions {
  readonly release?: true;
}

export function declareNid(nid: Command, context: CliContext): void {
  declareReplace(nid, context);
  declareRelease(nid, context);
}

function declareReplace(nid: Command, context: CliContext): void {
  addCorrectionOptions(nid.command('replace'))
    .description('give a person another national ID; the old one keeps finding the person')
    .argument('<old>', 'the number that was wrong or is no longer valid')
    .argument('<new>', 'the number that the person has now')
    .option(
      '--release',
      'take NEW from the person who had it before; if nobody had, let OLD be given to somebody else',
    )
    .action(async (old: string, current: string, options: ReplaceOptions) => {
      const releases = options.release === true;
      const numbers = [readNumber(old), readNumber(current)] as const;
      await correct(context, options, (store, given) =>
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
      await correct(context, options, (store, given) => store.releaseIdentityCard(former, given));
    });
}
