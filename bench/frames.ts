/**
 * How many pages of a registry one POST writes into its log, and of which tables and indexes: what a commit
 * has on disk before it is answered. One connection, in a copy of a registry of 200,000 members. Options:
 * `--posts 1000`, `--members 200000`; `--before 4000` members that are posted first: an import that builds
 * the indexes leaves them full, and each page of theirs is split once.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { copyRegistry, createKey, ensureDataset } from './dataset.ts';
import { killServers, removeFolder, startRegistry, temporaryFolder } from './load.ts';
import { COOPERATIVES, digits } from './population.ts';
import { createRandom } from './random.ts';

const { values } = parseArgs({
  options: {
    posts: { type: 'string', default: '1000' },
    members: { type: 'string', default: '200000' },
    before: { type: 'string', default: '4000' },
  },
});
const [posts, before] = [values.posts, values.before].map(Number) as [number, number];
const random = createRandom('frames');
const HEADER = 32;
const FRAME = 24;

/** The pages of each transaction in the log, from a place in it on. */
function commitsFrom(log: string, from: number): number[][] {
  const bytes = readFileSync(log);
  const pageSize = bytes.readUInt32BE(8);
  const commits: number[][] = [];
  let pages: number[] = [];
  for (let at = Math.max(from, HEADER); at < bytes.length; at += FRAME + pageSize) {
    pages.push(bytes.readUInt32BE(at));
    if (bytes.readUInt32BE(at + 4) === 0) continue;
    commits.push(pages);
    pages = [];
  }
  return commits;
}

function print(title: string, file: string, commits: readonly number[][]): void {
  const db = new Database(file, { readonly: true });
  const names = new Map(
    db.prepare('SELECT pageno, name FROM dbstat').raw().all() as readonly (readonly [number, string])[],
  );
  db.close();
  const byName = new Map<string, number>();
  for (const name of commits.flat().map((page) => names.get(page) ?? 'free pages'))
    byName.set(name, (byName.get(name) ?? 0) + 1);
  const perPost = (frames: number): string => (frames / posts).toFixed(2).padStart(7);
  const median = commits.map(({ length }) => length).sort((a, b) => a - b)[commits.length >> 1];
  process.stdout.write(
    `${title}: ${perPost(commits.flat().length).trim()} frames per POST, median ${median}\n`,
  );
  for (const [name, frames] of [...byName].sort(([, a], [, b]) => b - a))
    process.stdout.write(`${perPost(frames)} ${name}\n`);
}

const folder = temporaryFolder();
try {
  const dataset = await ensureDataset(Number(values.members), 2_000);
  const file = copyRegistry(dataset, join(folder, 'written'));
  const scopes = ['members:read', 'members:write', 'loans:read', 'loans:write', 'payments:write'];
  const key = await createKey(file, scopes);
  const server = await startRegistry(file, folder);
  // As long as somebody reads an old snapshot, the log is not begun again.
  const reader = new Database(file, { readonly: true });
  reader.exec('BEGIN');
  const loans = reader
    .prepare("SELECT id FROM loans WHERE status = 'approved' ORDER BY id % 997 LIMIT ?")
    .pluck()
    .all(posts) as number[];

  async function post(path: string, body: object): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${server.port}/api/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path} is answered ${response.status}`);
    await response.arrayBuffer();
  }

  const names = readNames(reader);
  const member = (i: number) => ({
    cooperative_id: String(random.int(1, COOPERATIVES)),
    identity_card: `1${random.int(1930, 2006)}8${digits(random.int(0, 9_999_999_999), 10)}`,
    member_code: `W-${i}`,
    full_name: `${random.pick(names)} ${random.pick(names)}`,
    gender: random.chance(0.5) ? 'FEMALE' : 'MALE',
    mobile: `+25078${digits(random.int(0, 9_999_999), 7)}`,
    registration_date: `20${digits(random.int(10, 24), 2)}-03-31`,
  });
  const payment = (i: number) => ({
    ...{ loan_id: String(loans[i % loans.length]), reference: `FRAMES-${i}` },
    ...{ amount: '10.00', method: 'mobile_money' },
  });
  for (let i = 0; i < before; i += 10)
    await Promise.all(Array.from({ length: 10 }, (_, k) => post('/members', member(posts + i + k))));
  for (const [path, body] of [
    ['/members', member],
    ['/payments', payment],
  ] as const) {
    const from = statSync(`${file}-wal`).size;
    for (let i = 0; i < posts; i++) await post(path, body(i));
    print(path, file, commitsFrom(`${file}-wal`, from));
  }
  reader.close();
} finally {
  killServers();
  removeFolder(folder);
}

function readNames(db: Database.Database): string[] {
  const rows = db.prepare('SELECT full_name FROM members LIMIT 5000').pluck().all() as string[];
  return [...new Set(rows.flatMap((name) => name.split(' ')))];
}
