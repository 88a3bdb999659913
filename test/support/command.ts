/** Runs the command line, in this process or in one of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../src/cli/program.ts';
import type { Clock } from '../../src/clock.ts';
import { systemClock } from '../../src/clock.ts';

export interface CommandOutcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** In this process. */
export async function command(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  clock: Clock = systemClock,
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
  });
  return { status, out, err };
}

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

/** In a process of its own, which its caller must end. */
export function spawnCommand(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
    env: { ...process.env, ...env },
  });
  let output = '';
  const waiting: (() => void)[] = [];
  const onData = (chunk: Buffer) => {
    output += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout?.on('data', onData);
  child.stderr?.on('data', onData);
  const ended = once(child, 'close').then(([status]) => status as number | null);
  return {
    child,
    output: () => output,
    ended,
    waitFor: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (output.includes(text)) resolve();
        };
        waiting.push(look);
        look();
        void ended.then(() => reject(new Error(`It ended without writing "${text}": ${output}`)));
      }),
  };
}
