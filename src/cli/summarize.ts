/** `summarize`: computes the summaries that lookups would otherwise compute each time. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { nowSeconds } from '../clock.ts';
import { readConfig } from '../config.ts';
import { createBlockTexts } from '../http/resources/financials.ts';
import { summarizeMissing } from '../store/sqlite/read-model/refresh.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';

export function declareSummarize(command: Command, context: CliContext): void {
  command
    .option('--db <file>', 'database file (overrides REGISTRY_DB)')
    .option('--json', 'one JSON document')
    .action((options: { db?: string; json?: boolean }) => {
      const { databaseFile, zone } = readConfig(
        options.db === undefined ? context.env : { ...context.env, REGISTRY_DB: options.db },
      );
      if (!existsSync(databaseFile))
        throw new CommandError(EXIT.usage, `There is no database at ${databaseFile}.`);
      const count = summarizeMissing(databaseFile, createBlockTexts(zone), nowSeconds(context.clock));
      context.out(
        options.json === true
          ? `${JSON.stringify({ database: databaseFile, summarized: count }, undefined, 2)}\n`
          : `${count} member${count === 1 ? '' : 's'} summarized in ${databaseFile}.\n`,
      );
    });
}
