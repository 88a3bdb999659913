/** `status`: how the registry is doing, on one screen (docs/operating.md#status). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { proposed } from '../terminal/proposed-command.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { findAttention, type StatusFacts } from './attention.ts';
import { describeStatus, formatStatus } from './status-text.ts';

export function declareStatus(command: Command, context: CliContext): void {
  addPrintOptions(command).action(async (options: PrintOptions) => {
    const facts = await readFacts(context, options);
    const attention = findAttention(facts);
    context.out(
      options.json === true ? formatJson(describeStatus(facts, attention)) : formatStatus(facts, attention),
    );
    if (attention.length > 0) throw new CommandError(EXIT.refused, '');
  });
}

async function readFacts(context: CliContext, options: PrintOptions): Promise<StatusFacts> {
  const config = configOf(context, options);
  const storage = openConfiguredStorage(config, context.clock);
  const now = nowSeconds(context.clock);
  // Before anything is opened here.
  const isServed = await storage.isServed();
  const condition = await storage.readCondition();
  const { keys, uses } = (await storage.hasKeys())
    ? await withStore(storage.openKeys('manage'), async (store) => ({
        keys: await store.list(now),
        uses: await store.uses(now),
      }))
    : { keys: [], uses: [] };
  const command = (text: string) => proposed(text, options);
  return { location: storage.location, condition, keys, uses, isServed, now, zone: config.zone, command };
}
