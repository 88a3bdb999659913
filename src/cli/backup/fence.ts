/** `fence`: keeps a registry from being used, as another machine takes over (docs/standby.md#the-fence). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import type { CliContext } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';

export function declareFence(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(async (options: PrintOptions) => {
    const storage = openConfiguredStorage(configOf(context, options), context.clock);
    await storage.fence();
    const database = storage.location;
    const isJson = options.json === true;
    context.out(
      isJson ? formatJson({ database, fenced: true }) : `${database} is fenced: nothing uses it.\n`,
    );
  });
}
