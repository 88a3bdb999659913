/** The import command from start to end. */
import { join } from 'node:path';
import { type ImportFigures, importFile, runRegistry } from '../dataset.ts';
import type { Options } from '../load.ts';
import { type Kind, writeCsv } from '../rows.ts';

/** What each round gave, by the name of the file. */
export type Imports = { [name: string]: readonly ImportFigures[] };

/** The import command end to end: a million members, then two million deliveries of 100,000 of them. */
export async function imports(options: Options): Promise<Imports> {
  const population = { members: 1_000_000, withEntries: 100_000, nowMs: Date.now() };
  const kinds: readonly Kind[] = ['cooperatives', 'members', 'production'];
  const csv = (kind: Kind) => join(options.folder, `${kind}.csv`);
  for (const kind of kinds) writeCsv(csv(kind), kind, population);
  const measured = new Map<string, ImportFigures[]>();
  for (let round = 0; round < options.rounds; round++) {
    const databaseFile = join(options.folder, `import-${round}.db`);
    for (const [name, kind] of [...kinds.map((kind) => [kind, kind]), ['members again', 'members']] as [
      string,
      Kind,
    ][]) {
      const figures = await importFile(databaseFile, kind, csv(kind));
      measured.set(name, [...(measured.get(name) ?? []), figures]);
      process.stderr.write(
        `  round ${round + 1}: ${name.padEnd(16)} ${figures.rows_per_second} rows/s, ` +
          `locked ${figures.lock_seconds} s, peak ${figures.peakMib} MiB\n`,
      );
    }
    const { out } = await runRegistry(databaseFile, ['check', '--json']);
    if (JSON.parse(out).sound !== true) throw new Error(`What was imported is not sound: ${out}`);
  }
  return Object.fromEntries(measured);
}
