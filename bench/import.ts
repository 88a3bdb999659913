/**
 * How fast files come in: writes synthetic ones, imports them with the real command in a process of its own, and
 * prints rows a second, the time the registry was locked, and the most memory the process held.
 *
 * npx tsx bench/import.ts [--rows N] [--kinds members,production]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;
const COOPERATIVES = 6_600;
const ORDER_NUMBERS = 1_000_000;
const BATCH_ROWS = 1_000;

const digits = (n: number, width: number): string => String(n).padStart(width, '0');
const cooperative = (n: number): string => `BENCH-${n % COOPERATIVES}`;
const memberCode = (n: number): string => `M-${digits(n, 7)}`;

/** Nobody holds these: order numbers from 9000000 on are not given out. They come in no order, as in life. */
function identityCard(n: number): string {
  const order = 9_000_000 + ((n * 48_271) % ORDER_NUMBERS);
  return `1${1950 + (n % 55)}${n % 2 === 0 ? 8 : 7}${order}${Math.floor(n / ORDER_NUMBERS)}${digits(n % 97, 2)}`;
}

interface BenchFile {
  readonly header: string;
  readonly row: (n: number, members: number) => string;
}

const FILES: Readonly<Record<string, BenchFile>> = {
  cooperatives: { header: 'code,name,sector', row: (n) => `${cooperative(n)},Cooperative ${n},agriculture` },
  members: {
    header:
      'cooperative_code,identity_card,member_code,full_name,first_name,last_name,gender,date_of_birth,mobile,role,status,registration_date',
    row: (n) => {
      const name = `Name${n % 977}`;
      const day = `0${1 + (n % 9)}-1${n % 10}`;
      const person = `${name} Example,${name},Example,${n % 2 === 0 ? 'MALE' : 'FEMALE'},${1950 + (n % 55)}-${day}`;
      return `${cooperative(n)},${identityCard(n)},${memberCode(n)},${person},+25078${digits(n % 10_000_000, 7)},MEMBER,active,2015-${day}T08:30:00+02:00`;
    },
  },
  production: {
    header: 'cooperative_code,member_code,reference,delivered_at,kg,product',
    row: (n, members) => {
      const member = (n * 7_919) % members;
      return `${cooperative(member)},${memberCode(member)},P-${digits(n, 8)},2025-0${1 + (n % 9)}-1${n % 10}T06:15:00+02:00,${1 + (n % 40)}.5,coffee cherries`;
    },
  },
};

function writeFile(folder: string, kind: string, rows: number, members: number): void {
  const { header, row } = FILES[kind] as BenchFile;
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, `${kind}.csv`), 'w');
  writeSync(file, `${header}\n`);
  for (let start = 0; start < rows; start += BATCH_ROWS) {
    const count = Math.min(BATCH_ROWS, rows - start);
    writeSync(file, Array.from({ length: count }, (_, i) => `${row(start + i, members)}\n`).join(''));
  }
  closeSync(file);
}

/** The most memory a process has held so far; undefined where the system does not say. */
function peakMemoryMib(pid: number): number | undefined {
  try {
    const kib = /VmHWM:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Math.round(Number(kib) / 1024);
  } catch {
    return undefined;
  }
}

async function runImport(databaseFile: string, folder: string, kind: string): Promise<void> {
  const args = ['--import', 'tsx', MAIN, 'import', kind, join(folder, `${kind}.csv`), '--json'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, REGISTRY_DB: databaseFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peakMib: number | undefined;
  const sampling = setInterval(() => {
    peakMib = peakMemoryMib(child.pid as number) ?? peakMib;
  }, 50);
  const [out, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  clearInterval(sampling);
  const file = JSON.parse(out).files[0];
  if (status !== 0 || file.imported !== true)
    throw new Error(`The import of ${kind} was refused: ${out.slice(0, 2_000)}`);
  const outcome = `${file.created} new, ${file.changed} changed, ${file.unchanged} unchanged`;
  const figures = `${file.seconds} s, ${file.rows_per_second} rows/s, locked ${file.lock_seconds} s, peak ${peakMib ?? '?'} MiB`;
  process.stdout.write(`${kind.padEnd(13)} ${outcome}: ${figures}\n`);
}

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    kinds: { type: 'string', default: 'members,production' },
  },
});
const rows = Number(values.rows);
const kinds = values.kinds.split(',');
if (!Number.isSafeInteger(rows) || rows < 1 || kinds.some((kind) => !(kind in FILES))) {
  process.stderr.write(`Usage: bench/import.ts [--rows N] [--kinds ${Object.keys(FILES).join(',')}]\n`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'registry-bench-'));
try {
  const databaseFile = join(folder, 'registry.db');
  for (const kind of new Set(['cooperatives', 'members', ...kinds])) {
    writeFile(folder, kind, kind === 'cooperatives' ? COOPERATIVES : rows, rows);
    await runImport(databaseFile, folder, kind);
  }
  // What a nightly import of the same file costs.
  await runImport(databaseFile, folder, 'members');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
