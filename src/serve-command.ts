/** The command `serve`, which runs the service until a signal (docs/operating.md#start-and-stop). */
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { composeRegistry } from './compose.ts';
import { removeStaleStaging } from './import/staging/import-session.ts';
import { type CliContext, EXIT, noRegistryHere, tell } from './terminal/context.ts';
import { newRegistryNote } from './terminal/output.ts';
import { showingNobody } from './terminal/record-reading.ts';
import { acting, type Run } from './terminal/run.ts';
import { addSettingOptions, type SettingOptions } from './terminal/settings.ts';
import { stopSignal, toListenError } from './terminal/signals.ts';

export function declareServe(command: Command, context: CliContext): void {
  addSettingOptions(showingNobody(command), 'REGISTRY_DB', 'HOST', 'PORT')
    .option('--create', 'create an empty registry where there is none')
    .action(acting(context, serve));
}

async function serve(run: Run<SettingOptions & { readonly create?: true }>): Promise<void> {
  const { config, clock, err, options } = run;
  const isNew = !run.storage.exists();
  // A mistyped path or an unmounted disk must not lead to a new, empty registry.
  if (isNew && options.create !== true) throw noRegistryHere(run.storage);
  const registry = composeRegistry({ config, clock, writeLog: logWriter(run) });
  if (isNew) tell(run, newRegistryNote(registry.storage));
  const stopped = stopSignal();
  try {
    removeStaleStaging(registry.storage.location);
    const { address } = await registry.listen();
    err(`Serving ${config.storage} on http://${shownAddress(address)}/api/v1/\n`);
    for (const { name, address: at } of registry.serving)
      err(`Serving ${name} on http://${shownAddress(at)}/${name}\n`);
    registry.note(`listening on ${shownAddress(address)}`);
    setStatusOfCrashes();
    const failure = await Promise.race([stopped, registry.failed]);
    registry.note(failure === undefined ? 'stopping' : failure.message);
    if (failure !== undefined) throw failure;
  } catch (error) {
    throw toListenError(error, { ...config, setting: '--port or PORT' });
  } finally {
    await registry.close();
    // A thread that waits for the disk would prevent the process from exiting.
    if (!registry.isRecording()) process.kill(process.pid, 'SIGKILL');
  }
}

/** After an uncaught error, replaces Node's own status 1, which would mean a refusal. */
function setStatusOfCrashes(): void {
  process.once('uncaughtExceptionMonitor', () =>
    process.once('exit', () => {
      process.exitCode = EXIT.crashed;
    }),
  );
}

const shownAddress = ({ address, family, port }: AddressInfo): string =>
  `${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/** Returns a function that writes the log. Errors do not stop the service; only the first is reported. */
function logWriter({ out, err }: CliContext): (lines: string) => void {
  let isReported = false;
  const report = ({ code }: NodeJS.ErrnoException) => {
    if (isReported) return;
    isReported = true;
    err(`The log cannot be written (${code}): lines are lost until it can be. The service continues.\n`);
  };
  return (lines) => out(lines, report);
}
