/** `cooperatives`: one that was merged into another (docs/correcting.md#a-merged-cooperative). */
import type { Command } from 'commander';
import type { CliContext } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { addCorrectionOptions, type CorrectionCommandOptions, correct } from './correction-command.ts';

export function declareCooperatives(cooperatives: Command, context: CliContext): void {
  addCorrectionOptions(cooperatives.command('merge'))
    .description('move all members of a cooperative to another, and dissolve it')
    .argument('<from>', 'code of the cooperative that is dissolved', parseCode)
    .argument('<into>', 'code of the cooperative that gets its members', parseCode)
    .action(async (from: string, into: string, options: CorrectionCommandOptions) => {
      await correct(context, options, {}, (store, given) => store.mergeCooperatives(from, into, given));
    });
}
