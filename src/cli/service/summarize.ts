/**
 * `summarize`: refreshes the read model where lookups would otherwise compute it each time
 * (docs/operating.md#read-model).
 */

import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { counted } from '../../domain/values/text.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import type { CliContext } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';

export function declareSummarize(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(async (options: PrintOptions) => {
    const storage = openConfiguredStorage(configOf(context, options), context.clock);
    const count = await storage.refreshReadModel(nowSeconds(context.clock));
    context.out(
      options.json === true
        ? formatJson({ database: storage.location, summarized: count })
        : `${counted(count, 'member')} summarized in ${storage.location}.\n`,
    );
  });
}
