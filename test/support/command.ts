/** Runs the command line, in this process or in one of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../src/program.ts';
import { type Clock, systemClock } from '../../src/runtime/scheduler.ts';
import type { CliContext } from '../../src/terminal/context.ts';

// Of processes of their own: what they say is compared in English, whatever the language of the machine.
process.env.LC_ALL = 'C';

export interface CommandOutcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/**
 * In this process.
 * @param more what answers questions, or takes what is printed
 */
export async function command(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  clock: Clock = systemClock,
  more: Partial<CliContext> = {},
): Promise<CommandOutcome> {
  let out = '';
  let err = '';
  const status = await runCommand(args, {
    env,
    clock,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    terminal: undefined,
    ...more,
  });
  return { status, out, err };
}

/** Every child process ends by itself after this time, whatever becomes of its test. */
export const CHILD_LIMIT = { timeout: 120_000, killSignal: 'SIGKILL' } as const;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface RunningCommand {
  readonly child: ChildProcess;
  /** What it has written so far. */
  output(): string;
  /** Resolves when the text was written. */
  waitFor(text: string): Promise<void>;
  /** Resolves with the exit status, null after a signal. */
  readonly ended: Promise<number | null>;
}

/** In a process of its own, which its caller must end. Its coverage counts. */
export function spawnCommand(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  const options = { ...CHILD_LIMIT, env: { ...process.env, ...env } };
  return observe(spawn(process.execPath, [MAIN, ...args], options));
}

/** Of the environment, what is meant for this run of the tests, with the settings of its make. */
const OF_TESTS = ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'MAKEFLAGS', 'MAKELEVEL', 'MFLAGS'];

/**
 * The environment of a program that runs as in production. Its coverage is left out: of a function out of the
 * compile cache, V8 does not count the lines.
 */
export const plainEnvironment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_TESTS.includes(name))),
  // Empty, as Node gives a child process its own when there is none.
  NODE_V8_COVERAGE: '',
  // The Node of this run first, whatever the machine has.
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
};

/**
 * As in production: a program with its arguments, in the project's folder and in a process group
 * of its own, so that a test can end what the program has started as well.
 */
export function spawnPlainly(
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
  limit: Pick<typeof CHILD_LIMIT, 'killSignal'> & { readonly timeout: number } = CHILD_LIMIT,
): RunningCommand {
  const [program = '', ...args] = command;
  const options = { ...limit, cwd: ROOT, env: { ...plainEnvironment, ...env }, detached: true };
  return observe(spawn(program, args, options));
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function observe(child: ChildProcess): RunningCommand {
  running.add(child);
  let output = '';
  // A waiter is gone once its text is there: the log of a service that is under load gets long.
  const waiting = new Set<() => void>();
  const onData = (chunk: Buffer) => {
    output += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout?.on('data', onData);
  child.stderr?.on('data', onData);
  const ended = once(child, 'close').then(([status]) => {
    running.delete(child);
    return status as number | null;
  });
  return {
    child,
    output: () => output,
    ended,
    waitFor: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!output.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`It ended without writing "${text}": ${output}`)));
      }),
  };
}
