/** `statistics`: sums of a cooperative, or of all (docs/api.md#statistics). */
import { type Command, Option } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { describeCountry, describeStatistics } from '../../json/statistics.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import type { CommandStatistics } from '../../store/ports/statistics.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { formatStatistics, formatStatisticsCsv, type Shown } from './statistics-text.ts';

interface StatisticsOptions extends PrintOptions {
  readonly csv?: true;
}

export function declareStatistics(statistics: Command, context: CliContext): void {
  addPrintOptions(statistics)
    .addOption(new Option('--csv', 'print rows for a spreadsheet, one number in each').conflicts('json'))
    .argument('[code]', 'code of a cooperative; without it, all cooperatives', parseCode)
    .action(async (code: string | undefined, options: StatisticsOptions) => {
      const config = configOf(context, options);
      const { zone } = config;
      const now = nowSeconds(context.clock);
      const store = openConfiguredStorage(config, context.clock).openStatistics();
      const { name, shown } = await withStore(store, async (opened) =>
        code === undefined
          ? { name: 'all cooperatives', shown: describeCountry(await opened.ofCountry(now), zone, true) }
          : await ofCooperative(opened, code),
      );
      if (options.csv === true) context.out(formatStatisticsCsv(shown));
      else context.out(options.json === true ? formatJson(shown) : formatStatistics(name, shown));

      async function ofCooperative(
        opened: CommandStatistics,
        given: string,
      ): Promise<{ name: string; shown: Shown }> {
        const found = await opened.findCooperative(given);
        const sums = found && (await opened.ofCooperative(found.id, now));
        if (sums === undefined)
          throw new CommandError(EXIT.refused, 'There is no cooperative with this code.');
        return { name: `${found?.code} ${found?.name}`, shown: describeStatistics(sums, zone, true) };
      }
    });
}
