/** `members`: merging and moving them (docs/correcting.md#registered-twice). */
import type { Command } from 'commander';
import type { CliContext } from '../terminal/context.ts';
import {
  addCorrectionOptions,
  type CorrectionCommandOptions,
  correct,
  readCode,
  readMemberId,
} from './correction-command.ts';

interface MoveOptions extends CorrectionCommandOptions {
  readonly to: string;
}

export function declareMembers(members: Command, context: CliContext): void {
  addCorrectionOptions(members.command('merge'))
    .description('give everything of one member to another who is the same person')
    .argument('<from>', 'id of the member that goes')
    .argument('<into>', 'id of the member that stays')
    .action(async (from: string, into: string, options: CorrectionCommandOptions) => {
      const ids = [readMemberId(from), readMemberId(into)] as const;
      await correct(context, options, (store, given) => store.mergeMembers(...ids, given));
    });
  addCorrectionOptions(members.command('move').requiredOption('--to <code>', 'code of the cooperative'))
    .description('move a member with everything to another cooperative')
    .argument('<id>', 'id of the member')
    .action(async (given: string, options: MoveOptions) => {
      const [id, code] = [readMemberId(given), readCode(options.to)];
      await correct(context, options, (store, each) => store.moveMember(id, code, each));
    });
}
