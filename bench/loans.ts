/**
 * Lists of loans and payments, page 1 against the deepest ones, one request at a time. Run by itself:
 * `node bench/loans.ts [--loans 1000000] [--payments 4000000] [--seconds 2]`, with wrk installed. It creates
 * a registry with the import command, half of it in one cooperative, and removes it at the end.
 */
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createKey, runRegistry } from './dataset.ts';
import {
  killServers,
  measure,
  removeFolder,
  requestScript,
  requireWrk,
  startRegistry,
  temporaryFolder,
} from './load.ts';

const { values } = parseArgs({
  options: {
    loans: { type: 'string', default: '1000000' },
    payments: { type: 'string', default: '4000000' },
    seconds: { type: 'string', default: '2' },
  },
});
const LOANS = Number(values.loans);
const PAYMENTS = Number(values.payments);
const SECONDS = Number(values.seconds);
const MEMBERS = Math.ceil(LOANS / 10);
const COOPERATIVES = 100;
const PAGE_SIZE = 50;
const BATCH_ROWS = 5_000;
const PAID_AT = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

/** Nobody holds these: order numbers from 9000000 on are not issued. */
const identityCard = (member: number): string => `119858${9_000_000 + member}042`;
/** Half of all members are in the first cooperative. */
const cooperativeOf = (member: number): string => `BENCH-${member % 2 === 0 ? 0 : member % COOPERATIVES}`;
const memberOfLoan = (loan: number): number => loan % MEMBERS;
/** Of every ten loans one is defaulted, one paid, the others approved. */
const statusOf = (loan: number): string =>
  ['defaulted', 'paid'][Math.floor(loan / MEMBERS) % 10] ?? 'approved';

const FILES = {
  cooperatives: {
    header: 'code,name',
    rows: COOPERATIVES,
    row: (n: number) => `BENCH-${n},Cooperative ${n}`,
  },
  members: {
    header: 'cooperative_code,identity_card,member_code,full_name',
    rows: MEMBERS,
    row: (n: number) => `${cooperativeOf(n)},${identityCard(n)},M-${n},Person ${n}`,
  },
  loans: {
    header: 'cooperative_code,member_code,reference,amount,interest_rate,status',
    rows: LOANS,
    row: (n: number) =>
      `${cooperativeOf(memberOfLoan(n))},M-${memberOfLoan(n)},L-${n},${1_000 + n},18.5,${statusOf(n)}`,
  },
  payments: {
    header: 'cooperative_code,loan_reference,reference,amount,method,paid_at,status',
    rows: PAYMENTS,
    row: (n: number) =>
      `${cooperativeOf(memberOfLoan(n % LOANS))},L-${n % LOANS},P-${n},${1 + (n % 900)}.50,cash,${PAID_AT},` +
      (n % 50 === 0 ? 'void' : 'recorded'),
  },
} as const;

async function load(databaseFile: string, kind: keyof typeof FILES, folder: string): Promise<void> {
  const { header, rows, row } = FILES[kind];
  const path = join(folder, `${kind}.csv`);
  const file = openSync(path, 'w');
  writeSync(file, `${header}\n`);
  for (let first = 0; first < rows; first += BATCH_ROWS) {
    const lines = Array.from({ length: Math.min(BATCH_ROWS, rows - first) }, (_, i) => row(first + i));
    writeSync(file, `${lines.join('\n')}\n`);
  }
  closeSync(file);
  const { out } = await runRegistry(databaseFile, ['import', kind, path, '--json', '--create', '--yes']);
  const { seconds, lock_seconds } = JSON.parse(out).files[0];
  process.stderr.write(`${rows} ${kind} in ${seconds} s, locked ${lock_seconds} s\n`);
  rmSync(path);
}

/** The number of the last page of a list, from its first. */
async function lastPageOf(port: number, key: string, path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const { count } = (await response.json()) as { count: number };
  if (response.status !== 200 || count === 0) throw new Error(`${path}: ${response.status}, ${count} rows`);
  return Math.ceil(count / PAGE_SIZE);
}

async function measureLists(databaseFile: string, folder: string): Promise<void> {
  const key = await createKey(databaseFile, ['loans:read', 'payments:read']);
  const { port } = await startRegistry(databaseFile, folder);
  const person = identityCard(MEMBERS - 1);
  console.log('| List | Pages | Page 1, ms | Any page, ms | Last page, ms |');
  console.log('|---|--:|--:|--:|--:|');
  for (const query of [
    ...['/loans/?', '/loans/?status=paid', '/loans/?cooperative=1', '/loans/?cooperative=1&status=paid'],
    ...['/loans/?cooperative=2', `/loans/?identity_card=${person}`, '/loans/?member=7'],
    ...['/payments/?', '/payments/?status=void', '/payments/?cooperative=1'],
    ...['/payments/?cooperative=1&status=void', '/payments/?cooperative=2'],
    ...[`/payments/?identity_card=${person}`, '/payments/?loan=7'],
  ]) {
    const path = `/api/v1${query}`;
    const last = await lastPageOf(port, key, path);
    const timeOf = async (page: string): Promise<string> => {
      const name = `page-${performance.now()}`;
      const body = `  return wrk.format("GET", "${path}&page=" .. ${page})`;
      const script = requestScript(folder, name, key, 'math.randomseed(42)', body);
      return (await measure(port, script, { seconds: SECONDS, connections: 1 })).p50Ms.toFixed(2);
    };
    const times = [await timeOf('1'), await timeOf(`math.random(${last})`), await timeOf(`${last}`)];
    console.log(
      `| \`${query.replace(/\/?\?$/, '').replace(person, '…')}\` | ${last} | ${times.join(' | ')} |`,
    );
  }
}

await requireWrk();
const folder = temporaryFolder();
try {
  const databaseFile = join(folder, 'registry.db');
  for (const kind of ['cooperatives', 'members', 'loans', 'payments'] as const)
    await load(databaseFile, kind, folder);
  process.stderr.write(`${Math.round(statSync(databaseFile).size / 2 ** 20)} MiB\n`);
  await measureLists(databaseFile, folder);
} finally {
  killServers();
  removeFolder(folder);
}
