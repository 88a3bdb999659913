/** `time-zone`: shows the zone that a registry belongs to, or moves it (docs/operating.md#time-zone). */
import { type Command, InvalidArgumentError } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { parseTimeZone, type TimeZone } from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';

interface TimeZoneOptions extends PrintOptions, ConfirmOptions {
  readonly to?: TimeZone;
}

function parseOffset(text: string): TimeZone {
  const zone = parseTimeZone(text);
  if (zone instanceof FieldError) throw new InvalidArgumentError(zone.message);
  return zone;
}

export function declareTimeZone(command: Command, context: CliContext): void {
  addConfirmOptions(addPrintOptions(showingNobody(command)))
    .option('--to <offset>', 'move the registry to this zone, such as -03:30 or Z', parseOffset)
    .action(
      acting(context, async (run: Run<TimeZoneOptions>) => {
        const {
          options,
          config: { storage: location },
          clock,
        } = run;
        const storage = openConfiguredStorage({ storage: location, zone: options.to ?? run.zone }, clock);
        const from = storage.timeZone();
        if (from === undefined)
          throw new CommandError(EXIT.usage, `No registry of this release can be read at ${location}.`);
        const { to = from, dryRun } = options;
        if (to.suffix !== from.suffix) {
          const show = async () => run.err(whatFollows(location, from, to));
          if (dryRun === true) await show();
          else {
            await confirm(run, options, show);
            await storage.changeTimeZone(nowSeconds(clock));
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
