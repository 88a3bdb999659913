/** `check`: whether the database is sound (docs/operating.md#check). */
import type { Command } from 'commander';
import { createBlockTexts } from '../http/resources/financials.ts';
import { checkDatabase, type Finding } from '../store/sqlite/check.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { formatJson, formatTable } from './output.ts';
import { addSettingOptions, configOfExisting, type SettingOptions } from './settings.ts';

export function declareCheck(command: Command, context: CliContext): void {
  addSettingOptions(command, 'REGISTRY_DB')
    .option('--json', 'print one JSON document')
    .action((options: SettingOptions & { readonly json?: true }) => {
      const { databaseFile, keysFile, zone } = configOfExisting(context, options);
      const checks = checkDatabase(databaseFile, keysFile, createBlockTexts(zone));
      const sound = checks.every(({ fault }) => fault === null);
      const isJson = options.json === true;
      context.out(isJson ? formatJson({ database: databaseFile, sound, checks }) : formatFindings(checks));
      if (!isJson) context.out(`\n${databaseFile} is ${sound ? 'sound' : 'NOT sound'}.\n`);
      if (!sound) throw new CommandError(EXIT.refused, '');
    });
}

const formatFindings = (findings: readonly Finding[]): string =>
  formatTable(
    ['CHECK', 'RESULT'],
    findings.map(({ check, fault, value }) => [
      check,
      fault ?? (value === undefined ? 'ok' : `ok, ${value}`),
    ]),
  );
