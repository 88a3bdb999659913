/** `status`: how the registry is doing, on one screen (docs/operating.md#status). */
import type { Command } from 'commander';
import { findAttention } from '../../app/condition/attention.ts';
import { readFacts } from '../../app/condition/read-facts.ts';
import { openConfiguredStorage } from '../../app/storage.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { proposed } from '../terminal/proposed-command.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { describeStatus, formatStatus } from './status-text.ts';

export function declareStatus(command: Command, context: CliContext): void {
  addPrintOptions(command).action(async (options: PrintOptions) => {
    const config = configOf(context, options);
    const storage = openConfiguredStorage(config, context.clock);
    const facts = await readFacts(storage, { ...config, clock: context.clock }, (text) =>
      proposed(text, options),
    );
    const attention = findAttention(facts);
    context.out(
      options.json === true ? formatJson(describeStatus(facts, attention)) : formatStatus(facts, attention),
    );
    if (attention.length > 0) throw new CommandError(EXIT.refused, '');
  });
}
