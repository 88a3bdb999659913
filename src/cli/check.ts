/** `check`: whether the database is sound. */
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { openConfiguredStorage } from '../storage.ts';
import type { Finding } from '../store/ports.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { formatTable } from './table.ts';

export function addCheckCommand(program: Command, context: CliContext): void {
  program
    .command('check')
    .description('check integrity, foreign keys, settings and counters; status 0 sound, 1 not, 2 no database')
    .option('--db <file>', 'database file (overrides REGISTRY_DB)')
    .option('--json', 'one JSON document')
    .action(async (options: { db?: string; json?: boolean }) => {
      const config = readConfig(
        options.db === undefined ? context.env : { ...context.env, REGISTRY_DB: options.db },
      );
      const findings = await openConfiguredStorage(config, context.clock).check();
      const isSound = findings.every(({ fault }) => fault === null);
      if (options.json === true) {
        context.out(
          `${JSON.stringify({ database: config.storage, sound: isSound, checks: findings }, undefined, 2)}\n`,
        );
      } else {
        context.out(formatTable(['CHECK', 'RESULT'], findings.map(toRow)));
        context.out(`\n${config.storage} is ${isSound ? 'sound' : 'NOT sound'}.\n`);
      }
      if (!isSound) throw new CommandError(EXIT.refused, '');
    });
}

const toRow = ({ check, fault, value }: Finding): string[] => [
  check,
  fault ?? (value === undefined ? 'ok' : `ok, ${value}`),
];
