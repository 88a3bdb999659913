/**
 * `summarize`: computes the summaries that lookups would otherwise compute each time
 * (docs/operating.md#summaries).
 */
import type { Command } from 'commander';
import { nowSeconds } from '../clock.ts';
import { createBlockTexts } from '../http/resources/financials.ts';
import { summarizeMissing } from '../store/sqlite/read-model/refresh.ts';
import type { CliContext } from './context.ts';
import { formatJson } from './output.ts';
import { addSettingOptions, configOfExisting, type SettingOptions } from './settings.ts';

export function declareSummarize(command: Command, context: CliContext): void {
  addSettingOptions(command, 'REGISTRY_DB')
    .option('--json', 'print one JSON document')
    .action((options: SettingOptions & { readonly json?: true }) => {
      const { databaseFile, zone } = configOfExisting(context, options);
      const count = summarizeMissing(databaseFile, createBlockTexts(zone), nowSeconds(context.clock));
      context.out(
        options.json === true
          ? formatJson({ database: databaseFile, summarized: count })
          : `${count} member${count === 1 ? '' : 's'} summarized in ${databaseFile}.\n`,
      );
    });
}
