/** `serve`: runs the service until it is told to stop. */
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { composeRegistry } from '../registry.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';

interface ServeOptions {
  readonly db?: string;
  readonly host?: string;
  readonly port?: string;
}

export function addServeCommand(program: Command, context: CliContext): void {
  program
    .command('serve')
    .description('serve the registry over HTTP; the log goes to standard output')
    .option('--db <file>', 'database file (overrides REGISTRY_DB)')
    .option('--host <address>', 'address to listen on (overrides HOST)')
    .option('--port <n>', 'port to listen on (overrides PORT)')
    .action(async (options: ServeOptions) => {
      const { db = context.env.REGISTRY_DB, host = context.env.HOST, port = context.env.PORT } = options;
      const config = readConfig({ ...context.env, REGISTRY_DB: db, HOST: host, PORT: port });
      const registry = composeRegistry({ config, clock: context.clock, writeLog: context.out });
      const stopped = stopSignal();
      try {
        await registry.storage.removeStaleStaging();
        const { address } = await registry.listen();
        const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
        context.err(`Serving ${config.storage} on http://${shownHost}:${address.port}/api/v1/\n`);
        registry.note(`listening on ${shownHost}:${address.port}`);
        const failure = await Promise.race([stopped, registry.failed]);
        registry.note(failure === undefined ? 'stopping' : failure.message);
        if (failure !== undefined) throw failure;
      } catch (error) {
        throw listenFault(error, config.host, config.port);
      } finally {
        await registry.close();
      }
    });
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = () => {
      if (isStopping) process.exit(EXIT.refused);
      isStopping = true;
      resolve();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}

function listenFault(error: unknown, host: string, port: number): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    return new CommandError(
      EXIT.refused,
      `Port ${port} is in use. Choose another: --port ${port + 1}, or PORT.`,
    );
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new CommandError(EXIT.usage, `${host} is no address of this machine.`);
  }
  if (code === 'EACCES')
    return new CommandError(EXIT.refused, `Port ${port} needs more rights than this process has.`);
  return error;
}
