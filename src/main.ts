#!/usr/bin/env node
/** The executable: checks the runtime, runs the command, ends with its status. */

import { faultOfRuntime } from './node-version.ts';

// Nothing of the database driver may be loaded before this: it crashes on older ones.
const fault = faultOfRuntime(process.versions.node);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exit(2);
}

// Whoever reads the output may stop reading: that is no defect.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

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
