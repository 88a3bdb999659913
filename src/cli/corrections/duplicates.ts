/** `duplicates`: members who may be one person (docs/correcting.md#finding-people-registered-twice). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { findMemberId, MEMBER_HELP } from '../persons/named-member.ts';
import { NAMES, recordReading } from '../persons/record-reading.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { addReasonOption, type CorrectionCommandOptions, correct } from './correction-command.ts';
import { describeDuplicates, formatDuplicates } from './duplicates-text.ts';

interface FindOptions extends PrintOptions {
  readonly cooperative?: string;
}

export function declareDuplicates(duplicates: Command, context: CliContext): void {
  addPrintOptions(duplicates, 'REGISTRY_USER')
    .option('--cooperative <code>', 'only pairs with a member of this cooperative', parseCode)
    .action((options: FindOptions) => find(context, options));
  addReasonOption(duplicates.command('dismiss'))
    .description('set a pair aside: somebody has looked, and they are two people')
    .argument('<member>', MEMBER_HELP)
    .argument('<other>', 'the other member')
    .action(async (one: string, other: string, options: CorrectionCommandOptions) => {
      const oneId = await findMemberId(context, options, one);
      const otherId = await findMemberId(context, options, other);
      // Nothing is lost by it, so nobody is asked.
      const named = { memberIds: [oneId, otherId] };
      await correct(context, { ...options, yes: true }, named, (store, given) =>
        store.dismissDuplicate(oneId, otherId, given),
      );
    });
}

async function find(context: CliContext, options: FindOptions): Promise<void> {
  const code = options.cooperative;
  const store = openConfiguredStorage(configOf(context, options), context.clock).openHeldData();
  const found = await withStore(store, async () => {
    if (code !== undefined && !(await store.listCooperatives()).some((each) => each.code === code))
      throw new CommandError(EXIT.refused, `There is no cooperative ${code}.`);
    return store.findDuplicates(code);
  });
  const memberIds = found.pairs.flatMap(({ from, into }) => [from.id, into.id]);
  await recordReading(context, options, { memberIds: [...new Set(memberIds)], fields: NAMES });
  const isJson = options.json === true;
  context.out(isJson ? formatJson(describeDuplicates(found, options)) : formatDuplicates(found, options));
}
