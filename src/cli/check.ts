/** `check`: whether the database is sound. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { createBlockTexts } from '../http/resources/financials.ts';
import { checkDatabase, type Finding } from '../store/sqlite/check.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { formatTable } from './table.ts';

export function declareCheck(command: Command, context: CliContext): void {
  command
    .option('--db <file>', 'database file (overrides REGISTRY_DB)')
    .option('--json', 'one JSON document')
    .action((options: { db?: string; json?: boolean }) => {
      const config = readConfig(
        options.db === undefined ? context.env : { ...context.env, REGISTRY_DB: options.db },
      );
      if (!existsSync(config.databaseFile)) {
        throw new CommandError(EXIT.usage, `There is no database at ${config.databaseFile}.`);
      }
      const findings = checkDatabase(config.databaseFile, config.keysFile, createBlockTexts(config.zone));
      const isSound = findings.every(({ fault }) => fault === null);
      if (options.json === true) {
        context.out(
          `${JSON.stringify({ database: config.databaseFile, sound: isSound, checks: findings }, undefined, 2)}\n`,
        );
      } else {
        context.out(formatTable(['CHECK', 'RESULT'], findings.map(toRow)));
        context.out(`\n${config.databaseFile} is ${isSound ? 'sound' : 'NOT sound'}.\n`);
      }
      if (!isSound) throw new CommandError(EXIT.refused, '');
    });
}

const toRow = ({ check, fault, value }: Finding): string[] => [
  check,
  fault ?? (value === undefined ? 'ok' : `ok, ${value}`),
];
