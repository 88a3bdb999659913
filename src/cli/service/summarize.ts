/**
 * `summarize`: refreshes the read model where lookups would otherwise compute it each time
 * (docs/operating.md#read-model).
 */

import type { Command } from 'commander';
import { counted } from '../../domain/values/text.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import type { CliContext } from '../terminal/context.ts';
import { acting } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';

export function declareSummarize(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(
    acting(context, ({ storage, now, show }) => {
      const summarized = storage.refreshReadModel(now);
      const database = storage.location;
      show({ database, summarized }, `${counted(summarized, 'member')} summarized in ${database}.\n`);
    }),
  );
}
