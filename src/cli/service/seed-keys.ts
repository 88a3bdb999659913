/** The keys of the demo data: one for each kind of holder, stored in a file beside the database. */
import { closeSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createKeys } from '../../app/embedding/keys.ts';
import { openConfiguredStorage } from '../../app/storage.ts';
import type { Config } from '../../config.ts';
import type { Scope } from '../../domain/access/api-keys.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../../domain/access/sliding-window.ts';
import { openPrivateFile } from '../../runtime/new-files.ts';
import type { CliContext } from '../terminal/context.ts';
import { formatJson, formatRows } from '../terminal/output.ts';
import { withStore } from '../terminal/with-store.ts';

interface DemoKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly perHour: number;
  readonly perDay: number;
}

export interface IssuedDemoKey extends DemoKey {
  readonly id: string;
  readonly key: string;
}

const DEFAULTS = { perHour: DEFAULT_PER_HOUR, perDay: DEFAULT_PER_DAY };

/** The last one has so low a limit that one sees it reached. */
const DEMO_KEYS: readonly DemoKey[] = [
  { name: 'financials', scopes: ['cooperatives:read', 'members:read', 'members:financials'], ...DEFAULTS },
  { name: 'reader', scopes: ['cooperatives:read', 'members:read'], ...DEFAULTS },
  {
    name: 'writer',
    scopes: [
      'cooperatives:read',
      'cooperatives:write',
      'members:read',
      'members:write',
      'loans:read',
      'loans:write',
      'payments:read',
      'payments:write',
    ],
    ...DEFAULTS,
  },
  {
    name: 'follower',
    scopes: ['webhooks:receive', 'cooperatives:read', 'members:read', 'loans:read', 'payments:read'],
    ...DEFAULTS,
  },
  { name: 'five-an-hour', scopes: ['members:read'], perHour: 5, perDay: 50 },
];

/**
 * The file carries the database's name, unless that is `registry.db`: each database has demo keys of its own.
 */
export function demoKeysFileOf({ storage }: Config): string {
  const name = basename(storage).replace(/\.db$/, '');
  return join(dirname(storage), name === 'registry' ? 'demo-keys.json' : `${name}.demo-keys.json`);
}

/** Issues the demo keys and writes them to their file, which only its owner can read. */
export async function issueDemoKeys(context: CliContext, config: Config): Promise<void> {
  await withStore(openConfiguredStorage(config, context.clock).openKeys('issue'), async (store) => {
    const operations = createKeys({
      openKeys: () => store,
      clock: context.clock,
      zone: config.zone,
      hasCooperative: async () => true,
    });
    const keys: IssuedDemoKey[] = [];
    for (const demo of DEMO_KEYS) {
      const { id, key } = await operations.create({ ...demo, name: `demo ${demo.name}` });
      keys.push({ id, ...demo, key });
    }
    writeDemoKeys(demoKeysFileOf(config), keys);
  });
}

function writeDemoKeys(file: string, keys: readonly IssuedDemoKey[]): void {
  rmSync(file, { force: true });
  const handle = openPrivateFile(file);
  writeFileSync(handle, formatJson({ keys }));
  closeSync(handle);
}

/** @returns undefined when the database was not filled by `seed` */
export function readDemoKeys(config: Config): readonly IssuedDemoKey[] | undefined {
  const file = demoKeysFileOf(config);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { keys: IssuedDemoKey[] }).keys;
}

export const formatDemoKeys = (keys: readonly IssuedDemoKey[]): string =>
  formatRows(keys, {
    KEY: 'key',
    NAME: 'name',
    LIMITS: ({ perHour, perDay }) => `${perHour}/h ${perDay}/day`,
    SCOPES: 'scopes',
  });
