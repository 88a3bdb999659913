/**
 * Measures the consolidated lookup beside a bare node:http server that sends the same bytes, in turn, in one run.
 * Needs wrk. `--seconds N` a measurement (5), `--rounds N` (3).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const BARE = fileURLToPath(new URL('bare-server.ts', import.meta.url));
const CONNECTIONS = 32;

interface Figure {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '5' }, rounds: { type: 'string', default: '3' } },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);

const folder = mkdtempSync(join(tmpdir(), 'registry-bench-'));
const env = { ...process.env, REGISTRY_DB: join(folder, 'registry.db'), PORT: '0' };
const children: ChildProcess[] = [];

/** Starts a program and waits for the line on standard error that names its port; its log goes to a file. */
function start(args: readonly string[]): Promise<number> {
  const log = openSync(join(folder, `${children.length}.log`), 'w');
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    env,
    stdio: ['ignore', log, 'pipe'],
  });
  children.push(child);
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      const port = /http:\/\/127\.0\.0\.1:([0-9]+)/.exec(chunk.toString())?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.on('close', () => reject(new Error(`${args[0]} ended.`)));
  });
}

const command = async (...args: string[]): Promise<string> =>
  (await run(process.execPath, ['--import', 'tsx', MAIN, ...args], { env })).stdout;

function identityCards(): string[] {
  const file = fileURLToPath(new URL('../data/seed/members.csv', import.meta.url));
  const [header = '', ...rows] = readFileSync(file, 'utf8').trim().split('\n');
  const place = header.split(',').indexOf('identity_card');
  return [...new Set(rows.map((row) => row.split(',')[place] ?? ''))];
}

/** The answers of every person that has one. */
async function collectAnswers(port: number, key: string, file: string): Promise<string[]> {
  const answers = [];
  for (const card of identityCards()) {
    const path = `/api/v1/members/${card}/`;
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    if (reply.status !== 200) continue;
    const headers = Object.fromEntries(reply.headers);
    for (const own of ['connection', 'date', 'keep-alive']) delete headers[own];
    answers.push({ path, headers, body: await reply.text() });
  }
  writeFileSync(file, JSON.stringify(answers));
  return answers.map(({ path }) => path);
}

function wrkScript(paths: readonly string[], key: string): string {
  return `local paths = {${paths.map((path) => `"${path}"`).join(',')}}
wrk.headers["Authorization"] = "Bearer ${key}"
math.randomseed(42)
request = function() return wrk.format("GET", paths[math.random(#paths)]) end
done = function(summary, latency)
  io.write(string.format("RESULT %f %f %d\\n", summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, summary.errors.status))
end
`;
}

async function measure(port: number, script: string): Promise<Figure> {
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, `http://127.0.0.1:${port}`];
  const { stdout } = await run('wrk', args);
  const [, rate, p99, failed] = /RESULT ([\d.]+) ([\d.]+) (\d+)/.exec(stdout) ?? [];
  if (rate === undefined || failed !== '0') throw new Error(`wrk did not get 200 throughout:\n${stdout}`);
  return { requestsPerSecond: Number(rate), p99Ms: Number(p99) };
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

async function main(): Promise<void> {
  try {
    await run('wrk', ['-v']).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new Error('wrk is missing: apt-get install wrk');
    });
    await command('seed');
    const scopes = ['--scope', 'members:read'];
    const limits = ['--per-hour', '10000000', '--per-day', '10000000'];
    const issue = async (...more: string[]) =>
      JSON.parse(await command('keys', 'create', '--name', 'bench', ...scopes, ...more, ...limits, '--json'))
        .key;
    const withFinancials = await issue('--scope', 'members:financials');
    const without = await issue();
    const registry = await start([MAIN, 'serve']);
    const subjects: { name: string; port: number; script: string; figures: Figure[] }[] = [];
    for (const [what, key] of [
      ['with financial blocks', withFinancials],
      ['without', without],
    ] as const) {
      const file = join(folder, `${what}.json`);
      const script = join(folder, `${what}.lua`);
      const paths = await collectAnswers(registry, key, file);
      writeFileSync(script, wrkScript(paths, key));
      const bare = await start([BARE, file]);
      subjects.push({ name: `registry, ${what}`, port: registry, script, figures: [] });
      subjects.push({ name: `bare node:http, same bytes, ${what}`, port: bare, script, figures: [] });
    }
    for (let round = 0; round < rounds; round++) {
      for (const subject of subjects) subject.figures.push(await measure(subject.port, subject.script));
    }
    report(subjects);
  } finally {
    for (const child of children) child.removeAllListeners('close').kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(subjects: readonly { name: string; figures: readonly Figure[] }[]): void {
  const machine = `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}; Node ${process.versions.node}`;
  console.log(
    `${new Date().toISOString().slice(0, 10)}, ${machine}; ${rounds} rounds of ${seconds} s, ${CONNECTIONS} connections\n`,
  );
  for (let i = 0; i < subjects.length; i += 2) {
    const [own, bare] = subjects.slice(i, i + 2).map(({ name, figures }) => ({
      name,
      rate: median(figures.map((figure) => figure.requestsPerSecond)),
      p99: median(figures.map((figure) => figure.p99Ms)),
    }));
    if (own === undefined || bare === undefined) return;
    for (const { name, rate, p99 } of [own, bare]) {
      console.log(`${name.padEnd(52)} ${rate.toFixed(0).padStart(7)} requests/s  p99 ${p99.toFixed(1)} ms`);
    }
    console.log(`${'ratio'.padEnd(52)} ${(own.rate / bare.rate).toFixed(2).padStart(7)}\n`);
  }
}

await main();
