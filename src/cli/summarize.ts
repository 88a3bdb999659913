/** `summarize`: computes the summaries that lookups would otherwise compute each time. */
import type { Command } from 'commander';
import { nowSeconds } from '../clock.ts';
import { readConfig } from '../config.ts';
import { openConfiguredStorage } from '../storage.ts';
import type { CliContext } from './context.ts';

export function addSummarizeCommand(program: Command, context: CliContext): void {
  program
    .command('summarize')
    .description(
      'compute the summaries of entries that are missing, after a new release or an import that was killed',
    )
    .option('--db <file>', 'database file (overrides REGISTRY_DB)')
    .option('--json', 'one JSON document')
    .action(async (options: { db?: string; json?: boolean }) => {
      const config = readConfig(
        options.db === undefined ? context.env : { ...context.env, REGISTRY_DB: options.db },
      );
      const storage = openConfiguredStorage(config, context.clock);
      const count = await storage.refreshReadModel(nowSeconds(context.clock));
      context.out(
        options.json === true
          ? `${JSON.stringify({ database: config.storage, summarized: count }, undefined, 2)}\n`
          : `${count} member${count === 1 ? '' : 's'} summarized in ${config.storage}.\n`,
      );
    });
}
