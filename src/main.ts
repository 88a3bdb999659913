#!/usr/bin/env node

// The executable. Checks the version of Node, runs the command, and exits with its status.

import { faultOfRuntime } from './runtime/node-version.ts';
import type { CliContext, OnLost } from './terminal/context.ts';

// No other static imports are allowed. Other files need features of a current Node, and the database driver
// crashes on older versions.
const fault = faultOfRuntime(process.versions.node);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exit(2);
}

if (process.argv.includes('serve')) (await import('./runtime/process.ts')).limitMemory();

/**
 * Writes to a stream. Once the reader, such as `head`, has closed the stream, drops all further text: an
 * import must not stop because nobody reads its output (docs/operating.md#commands).
 * @param onLost handles errors of writes for which the caller passes no handler
 */
function writerTo(stream: NodeJS.WriteStream, onLost: OnLost): CliContext['out'] {
  let isRead = true;
  // The callback of each write handles its errors.
  stream.on('error', () => {});
  return (text, onTextLost = onLost) => {
    if (!isRead) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const isTaken = stream.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
      resolve();
      if (!error) return;
      if (error.code === 'EPIPE') isRead = false;
      onTextLost(error);
    });
    return isTaken ? undefined : promise;
  };
}

let isResultLost = false;

function reportLostResult({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' || isResultLost) return;
  isResultLost = true;
  process.exitCode = 1;
  err(`The results cannot be written to standard output (${code}).\n`);
}

async function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  // Without `terminal`, Ctrl-C remains a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  // The command reports that nothing was changed.
  const onInterrupt = () => {
    process.stderr.write('\n');
    lines.close();
  };
  process.once('SIGINT', onInterrupt);
  try {
    return await Promise.race([lines.question(question, { signal }).catch(() => ''), ended]);
  } finally {
    process.off('SIGINT', onInterrupt);
    lines.close();
  }
}

/** If the parent process exits, the answer is no. */
const askParent = (_question: string, signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const onAnswer = (answer: unknown) => {
      process.off('message', onAnswer).off('disconnect', onAnswer);
      resolve(answer === 'yes' ? 'y' : '');
    };
    process.on('message', onAnswer).on('disconnect', onAnswer);
    signal.addEventListener('abort', onAnswer);
    process.send?.({ asks: true });
  });

const out = writerTo(process.stdout, reportLostResult);
const err = writerTo(process.stderr, () => {});

// Called before the imports whose code is cached
const { cacheCompiledCode } = await import('./runtime/compile-cache.ts');
cacheCompiledCode();

const [{ runCommand }, { systemClock }] = await Promise.all([
  import('./program.ts'),
  import('./runtime/scheduler.ts'),
]);

const status = await runCommand(process.argv.slice(2), {
  env: process.env,
  clock: systemClock,
  out,
  err,
  terminal: process.stderr.isTTY ? process.stderr : undefined,
  // Ignores errors, because an import must not stop when its parent exits.
  news: process.send && ((news) => void process.send?.(news, undefined, undefined, () => {})),
  ask: process.send ? askParent : process.stdin.isTTY && process.stderr.isTTY ? askOnTerminal : undefined,
});
if (status !== 0) process.exitCode = status;
