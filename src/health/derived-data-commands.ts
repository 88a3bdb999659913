/** The commands `summarize` and `time-zone` refresh the read model, the totals and the index of names. */

import type { Command } from 'commander';
import { assertUnused } from '../backup/in-use.ts';
import { indexNames } from '../registry/stores/name-index.ts';
import { formatOf, letOthersWrite, refreshOutOfDate } from '../registry/stores/read-model.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { WAIT_MS } from '../sqlite/connection.ts';
import { withDatabase } from '../sqlite/open-database.ts';
import { timeZoneOf } from '../sqlite/registry-facts.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import type { Storage } from '../sqlite/storage.ts';
import { renewTotals } from '../sqlite/stored-totals.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { accept } from '../terminal/options.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, openConfiguredStorage, type PrintOptions } from '../terminal/settings.ts';
import { parseTimeZone, type TimeZone } from '../values/date-time.ts';
import { counted } from '../values/text.ts';

/** @returns the number of refreshed members @throws StorageError */
export const refreshReadModel = (storage: Storage, nowSeconds: number): number =>
  refresh(storage.pathForOpening(), storage.configuredZone, nowSeconds);

/**
 * @returns the number of refreshed members
 * @throws StorageError (as a rejection), for example while a process has the registry open
 */
export async function changeTimeZone(storage: Storage, nowSeconds: number): Promise<number> {
  const file = storage.checkedPath();
  await assertUnused(
    file,
    0,
    (openFile) => `A process has ${openFile} open. Stop the service and every command on it, then try again.`,
  );
  return refresh(file, storage.configuredZone, nowSeconds);
}

/**
 * Refreshes data that is out of date after an upgrade, a change of the time zone or a killed import.
 * Transactions are small, to let other processes write.
 */
const refresh = (file: string, zone: TimeZone | undefined, nowSeconds: number): number =>
  withDatabase(file, { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA }, (db) => {
    const format = formatOf(db, zone);
    indexNames(db, { pause: letOthersWrite });
    renewTotals(db, format.zone);
    return refreshOutOfDate(db, format, { nowSeconds, pause: letOthersWrite });
  });

// `summarize` (docs/operating.md#read-model)

export function declareSummarize(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(
    acting(context, ({ storage, now, show }) => {
      const summarized = refreshReadModel(storage, now);
      const database = storage.location;
      show({ database, summarized }, `${counted(summarized, 'member')} summarized in ${database}.\n`);
    }),
  );
}

// `time-zone` (docs/operating.md#time-zone)

type TimeZoneOptions = PrintOptions & ConfirmOptions & { readonly to?: TimeZone };

export function declareTimeZone(command: Command, context: CliContext): void {
  addConfirmOptions(addPrintOptions(showingNobody(command)))
    .option('--to <offset>', 'move the registry to this zone, such as -03:30 or Z', (text) =>
      accept(parseTimeZone(text)),
    )
    .action(
      acting(context, async (run: Run<TimeZoneOptions>) => {
        const {
          options,
          config: { storage: location },
          clock,
        } = run;
        const storage = openConfiguredStorage({ storage: location, timeZone: options.to }, clock);
        const from = timeZoneOf(storage.checkedPath());
        if (from === undefined)
          throw new CommandError(EXIT.usage, `No registry of this release can be read at ${location}.`);
        const { to = from, dryRun } = options;
        if (to.suffix !== from.suffix) {
          const show = async () => run.err(whatFollows(location, from, to));
          if (dryRun === true) await show();
          else {
            await confirm(run, options, show);
            await changeTimeZone(storage, nowSeconds(clock));
          }
        }
        const timeZone = dryRun === true ? from.suffix : to.suffix;
        run.show({ database: location, timeZone }, `${location} is in the time zone ${timeZone}.\n`);
      }),
    );
}

const whatFollows = (location: string, from: TimeZone, to: TimeZone): string =>
  [
    `${location} would move from ${from.suffix} to ${to.suffix}:`,
    `- Every date-time is shown in ${to.suffix}. What came with a day and no time was stored as midnight in`,
    `  ${from.suffix}, and may be shown on the day before.`,
    '- Totals by month and the blocks of all members are computed again: a minute for each million members.',
    `- Files without references that were imported before are refused when they come again.`,
    `- Where TIME_ZONE_OFFSET is set, set it to ${to.suffix} then. Make a backup: those of before are in`,
    `  ${from.suffix}.`,
    '',
  ].join('\n');
