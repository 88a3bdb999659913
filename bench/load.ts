/** Starts servers in their own processes and measures them with wrk. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CACHE } from './dataset.ts';
import { identityCardLua, memberWithEntries, type Population } from './population.ts';

const run = promisify(execFile);
export const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The program as the README starts it, on Node's own type stripping. */
const REGISTRY = join(ROOT, 'src/main.ts');
const READY_TIMEOUT_MS = 20_000;

export interface Server {
  readonly port: number;
  /** Milliseconds from its start until it reported that it listens. */
  readonly startMs: number;
  /** @returns the current anonymous resident memory in MiB */
  rssAnonMib(): number;
  /** @returns the processor time that it has used so far, in milliseconds */
  cpuMs(): number;
  stop(): Promise<void>;
}

const servers = new Set<ChildProcess>();

/** Creates a folder for logs, scripts and copies of databases; the caller removes it. */
export function temporaryFolder(): string {
  mkdirSync(CACHE, { recursive: true });
  return mkdtempSync(join(CACHE, 'run-'));
}

/** Starts a program and waits for the line that contains its port; its log goes to a file. */
export function startServer(
  args: readonly string[],
  env: { [name: string]: string },
  folder: string,
  program = process.execPath,
): Promise<Server> {
  const log = openSync(join(folder, `${servers.size}-${Date.now()}.log`), 'w');
  const started = performance.now();
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', log, 'pipe'],
  });
  servers.add(child);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      servers.delete(child);
      resolve();
    });
  });
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(
      () => reject(new Error(`${args[0]} does not listen: ${said}`)),
      READY_TIMEOUT_MS,
    );
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const port = /http:\/\/127\.0\.0\.1:([0-9]+)/.exec(said)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve({
        port: Number(port),
        startMs: performance.now() - started,
        rssAnonMib: () =>
          Number(/RssAnon:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) /
          1024,
        cpuMs() {
          // The fields after the name in brackets; times are in ticks of 10 ms.
          const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
          return (Number(fields[11]) + Number(fields[12])) * 10;
        },
        stop() {
          child.kill('SIGTERM');
          return ended;
        },
      });
    });
    void ended.then(() => reject(new Error(`${args[0]} ended: ${said}`)));
  });
}

/** What the npm script adds. */
const AS_BY_NPM = { NODE_COMPILE_CACHE: 'node_modules/.cache/compiled-code' };

export const startRegistry = (
  databaseFile: string,
  folder: string,
  settings: { [name: string]: string } = {},
): Promise<Server> =>
  startServer(
    [REGISTRY, 'serve', ...(existsSync(databaseFile) ? [] : ['--create'])],
    { REGISTRY_DB: databaseFile, ...AS_BY_NPM, ...settings },
    folder,
  );

/** As the README starts it, npm included. */
export const startByNpm = (databaseFile: string, folder: string): Promise<Server> =>
  startServer(['run', '-s', 'registry', '--', 'serve'], { REGISTRY_DB: databaseFile }, folder, 'npm');

export const startPeer = (
  name: 'bare' | 'fastify',
  args: readonly string[],
  env: { [name: string]: string },
  folder: string,
): Promise<Server> => startServer([join(ROOT, `bench/peers/${name}.mjs`), ...args], env, folder);

export function killServers(): void {
  for (const child of servers) child.kill('SIGKILL');
}

export interface Figure {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const DONE = `done = function(summary, latency)
  io.write(string.format("RESULT %f %f %f %d %d\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.errors.status, summary.requests))
end
`;

/** Which of the members with entries are looked up: `count` of them, starting with index `first`. */
export interface Chosen {
  readonly first: number;
  readonly count: number;
}

/**
 * Writes a wrk script: lookups in an order that looks random and repeats nobody before everybody had a turn.
 * @returns the path of the script
 */
export function lookupScript(
  folder: string,
  name: string,
  key: string,
  population: Population,
  chosen: Chosen,
): string {
  const stride = memberWithEntries(1, population);
  const file = join(folder, `${name}.lua`);
  writeFileSync(
    file,
    `${identityCardLua(population)}
wrk.headers["Authorization"] = "Bearer ${key}"
local i = 0
request = function()
  i = (i + 7919) % ${chosen.count}
  return wrk.format("GET", "/api/v1/members/" .. identity_card((${chosen.first} + i) * ${stride}) .. "/")
end
${DONE}`,
  );
  return file;
}

/**
 * Writes a wrk script.
 * @param prelude Lua code that runs once
 * @param body Lua code of a function body that returns a request
 * @returns the path of the script
 */
export function requestScript(
  folder: string,
  name: string,
  key: string,
  prelude: string,
  body: string,
): string {
  const file = join(folder, `${name}.lua`);
  writeFileSync(
    file,
    `${prelude}
wrk.headers["Authorization"] = "Bearer ${key}"
request = function()
${body}
end
${DONE}`,
  );
  return file;
}

/** @throws Error unless every response was a success or, with `refused`, a refusal */
export async function measure(
  port: number,
  script: string,
  options: { seconds: number; connections: number; refused?: boolean },
): Promise<Figure> {
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${options.connections}`,
    `-d${options.seconds}s`,
    '-s',
    script,
    `http://127.0.0.1:${port}`,
  ]);
  const [, rate, p50, p99, refused, total] =
    /RESULT ([\d.]+) ([\d.]+) ([\d.]+) (\d+) (\d+)/.exec(stdout) ?? [];
  const expected = options.refused === true ? total : '0';
  if (rate === undefined || refused !== expected)
    throw new Error(`Of ${total} responses ${refused} were refusals:\n${stdout}`);
  return { perSecond: Number(rate), p50Ms: Number(p50), p99Ms: Number(p99) };
}

export async function requireWrk(): Promise<void> {
  await run('wrk', ['-v']).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Error('wrk is missing: apt-get install wrk');
  });
}

export const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** The results of one subject, one figure per round. */
export type Rounds = readonly Figure[];

/** Results by the name of their subject. */
export type Figures = { [name: string]: Rounds };

/** How every section is measured. */
export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  /** For logs, scripts and copies of databases; removed afterwards. */
  readonly folder: string;
}

/** Something that is measured once in every round. */
export interface Subject {
  readonly name: string;
  readonly measure: () => Promise<Figure>;
}

/** Measures in the order A B C A B C, so that whatever disturbs the machine disturbs all subjects. */
export async function inTurn(rounds: number, subjects: readonly Subject[]): Promise<Figures> {
  const figures: { [name: string]: Figure[] } = Object.fromEntries(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, measure: once } of subjects) {
      const figure = await once();
      figures[name]?.push(figure);
      const shown = `${figure.perSecond.toFixed(0).padStart(7)}/s  p99 ${figure.p99Ms.toFixed(1)} ms`;
      process.stderr.write(`  round ${round + 1}: ${name.padEnd(44)} ${shown}\n`);
    }
  }
  return figures;
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });
