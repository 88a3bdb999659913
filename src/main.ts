#!/usr/bin/env node
/** The executable: checks the runtime, runs the command, ends with its status. */

const OLDEST_NODE = 22;

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  // The database driver crashes on older ones: nothing of it may be loaded before this check.
  process.stderr.write(`This needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}

const [{ runCommand }, { systemClock }] = await Promise.all([
  import('./cli/program.ts'),
  import('./clock.ts'),
]);

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  clock: systemClock,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  terminal: process.stderr.isTTY ? process.stderr : undefined,
});

export {};
