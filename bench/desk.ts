/**
 * How long the desk takes for the page of a person, and how much it sends with style sheet, script and icon:
 * `bench/desk.ts [REGISTRY]`, of the demo data or of another registry, which is copied.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { openDesk } from '../src/desk-screens.ts';
import { openCommandLedger } from '../src/ledger/open-ledger.ts';
import { openRegistry } from '../src/open-registry.ts';
import { systemClock } from '../src/runtime/scheduler.ts';
import { openConfiguredStorage } from '../src/terminal/settings.ts';
import { KIGALI } from '../src/values/date-time.ts';
import { MAIN, runRegistry } from './dataset.ts';
import { median, removeFolder, temporaryFolder } from './load.ts';

const [PERSONS, REPEATED] = [100, 5];
const [registry] = process.argv.slice(2);
const folder = temporaryFolder();
const databaseFile = join(folder, 'registry.db');
try {
  if (registry === undefined) await runRegistry(databaseFile, ['seed']);
  else
    for (const end of ['.db', '.keys.db', '.db-wal'])
      if (existsSync(registry.replace(/\.db$/, end)))
        copyFileSync(registry.replace(/\.db$/, end), databaseFile.replace(/\.db$/, end));
  await visitPersons();
} finally {
  removeFolder(folder);
}

async function visitPersons(): Promise<void> {
  const config = {
    storage: databaseFile,
    timeZone: KIGALI,
    accessLedgerDays: 730,
    accessLedger: true,
    registryName: undefined,
  };
  const storage = openConfiguredStorage(config, systemClock);
  const ledger = openCommandLedger(storage.pathForOpening());
  const report = (line: string) => void process.stderr.write(line);
  const given = { config, clock: systemClock, storage, ledger, report, secret: 'secret', program: MAIN };
  const desk = await openDesk(given, 0);
  const origin = `http://127.0.0.1:${desk.port}`;
  const opened = await fetch(desk.issueLink('bench'));
  const headers = {
    cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '',
    origin: 'null',
    'sec-fetch-site': 'same-origin',
  };
  const get = async (path: string) => (await fetch(origin + path, { headers })).text();
  const token = /name="token" value="([^"]+)"/.exec(await get('/'))?.[1] ?? '';
  const pages: { milliseconds: number; bytes: number }[] = [];
  let assets = new Set<string>();
  for (const card of await identityCards(storage)) {
    const body = new URLSearchParams({ token, action: 'find', text: card });
    const found = await fetch(`${origin}/`, { method: 'POST', headers, body });
    for (let i = 0; i < REPEATED; i++) {
      const began = performance.now();
      const page = await get(new URL(found.url).pathname);
      if (!page.includes(card)) throw new Error('This is no page of a person.');
      pages.push({ milliseconds: performance.now() - began, bytes: Buffer.byteLength(page) });
      assets = new Set(
        [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string),
      );
    }
  }
  const sizes = await Promise.all([...assets].map(async (path) => Buffer.byteLength(await get(path))));
  const besides = sizes.reduce((sum, size) => sum + size, 0);
  const times = pages.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const most = Math.max(...pages.map(({ bytes }) => bytes));
  const slow = times[Math.floor(times.length * 0.99)] ?? 0;
  process.stdout.write(
    `page of a person: ${median(times).toFixed(1)} ms (p99 ${slow.toFixed(1)} ms, ${times.length} pages), ` +
      `${((median(pages.map(({ bytes }) => bytes)) + besides) / 1000).toFixed(1)} KB with everything ` +
      `(at most ${((most + besides) / 1000).toFixed(1)} KB)\n`,
  );
  await desk.close();
  await ledger.close();
}

/** Of members spread over the registry. */
async function identityCards(storage: ReturnType<typeof openConfiguredStorage>): Promise<string[]> {
  const { members, close } = openRegistry(storage);
  const cards: string[] = [];
  const { count } = await members.list({}, { page: 1, pageSize: 1 });
  for (let i = 0; i < PERSONS; i++) {
    const { rows } = await members.list({}, { page: 1 + Math.floor((i * count) / PERSONS), pageSize: 1 });
    for (const { id } of rows) cards.push((await members.find(id))?.identityCard ?? '');
  }
  await close();
  return cards;
}
