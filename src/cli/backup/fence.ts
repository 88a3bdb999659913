/** `fence`: keeps a registry from being used, as another machine takes over (docs/standby.md#the-fence). */
import type { Command } from 'commander';
import { showingNobody } from '../persons/shown-persons.ts';
import type { CliContext } from '../terminal/context.ts';
import { acting } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';

export function declareFence(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(
    acting(context, async ({ storage, show }) => {
      await storage.fence();
      const database = storage.location;
      show({ database, fenced: true }, `${database} is fenced: nothing uses it.\n`);
    }),
  );
}
