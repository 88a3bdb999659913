/** `check`: whether the database is sound (docs/trouble.md#check). */
import type { Command } from 'commander';
import type { Finding } from '../../store/contract/storage.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatRows } from '../terminal/output.ts';
import { proposed } from '../terminal/proposed-command.ts';
import { acting } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';

export function declareCheck(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command)).action(
    acting(context, (run) => {
      const checks = run.storage.check();
      const database = run.storage.location;
      const sound = checks.every(({ fault }) => fault === null);
      const result = `${database} is ${sound ? 'sound' : 'NOT sound'}.\n`;
      run.show({ database, sound, checks }, `${formatFindings(checks)}\n${result}`);
      const isDamaged = checks.some(({ check, fault }) => fault !== null && check.endsWith(': integrity'));
      const restore = proposed('restore DIR --replace', run.options);
      if (isDamaged) run.err(`The file is damaged. Restore the last backup: ${restore}\n`);
      if (!sound) throw new CommandError(EXIT.refused, '');
    }),
  );
}

/** A line for each finding. */
export const formatFindings = (findings: readonly Finding[]): string =>
  formatRows(findings, {
    CHECK: 'check',
    RESULT: ({ fault, value }) => fault ?? (value === undefined ? 'ok' : `ok, ${value}`),
  });
