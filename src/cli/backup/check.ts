/** `check`: whether the database is sound (docs/trouble.md#check). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import type { Finding } from '../../store/ports/storage.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatJson, formatTable } from '../terminal/output.ts';
import { proposed } from '../terminal/proposed-command.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';

export function declareCheck(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(async (options: PrintOptions) => {
    const storage = openConfiguredStorage(configOf(context, options), context.clock);
    const checks = await storage.check();
    const database = storage.location;
    const sound = checks.every(({ fault }) => fault === null);
    const isJson = options.json === true;
    context.out(isJson ? formatJson({ database, sound, checks }) : formatFindings(checks));
    if (!isJson) context.out(`\n${database} is ${sound ? 'sound' : 'NOT sound'}.\n`);
    const isDamaged = checks.some(({ check, fault }) => fault !== null && check.endsWith(': integrity'));
    const restore = proposed('restore DIR --replace', options);
    if (isDamaged) context.err(`The file is damaged. Restore the last backup: ${restore}\n`);
    if (!sound) throw new CommandError(EXIT.refused, '');
  });
}

/** A line for each finding. */
export const formatFindings = (findings: readonly Finding[]): string =>
  formatTable(
    ['CHECK', 'RESULT'],
    findings.map(({ check, fault, value }) => [
      check,
      fault ?? (value === undefined ? 'ok' : `ok, ${value}`),
    ]),
  );
