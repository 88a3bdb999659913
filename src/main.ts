#!/usr/bin/env node
/** The executable: checks the runtime, runs the command, ends with its status. */

import { faultOfRuntime } from './node-version.ts';

// Nothing else may be imported statically: older releases of Node lack what other files import, and the
// database driver crashes on them.
const fault = faultOfRuntime(process.versions.node);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exit(2);
}

// Whoever reads the output may stop reading: that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// Before the imports that it makes faster.
const { cacheCompiledCode } = await import('./compile-cache.ts');
cacheCompiledCode();

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
