/** The command `desk`, which opens the local web interface for clerks and operators (docs/desk.md). */

import { type Command, Option } from 'commander';
import { announceDesk, askOpenDesk, openInBrowser, otherOwner } from './desk/open-desk.ts';
import { newSecret } from './desk/sessions.ts';
import { openDesk } from './desk-screens.ts';
import { openCommandLedger } from './ledger/open-ledger.ts';
import { type Config, parsePort } from './runtime/config.ts';
import { deskFileOf } from './sqlite/registry-files.ts';
import { type Storage, sequenceOf } from './sqlite/storage.ts';
import { type CliContext, CommandError, EXIT, print, tell } from './terminal/context.ts';
import { accept } from './terminal/options.ts';
import { formatJson } from './terminal/output.ts';
import { showingNobody } from './terminal/record-reading.ts';
import { describeUser } from './terminal/run.ts';
import { addPrintOptions, configOf, openConfiguredStorage, type PrintOptions } from './terminal/settings.ts';
import { stopSignal, toListenError } from './terminal/signals.ts';
import { say } from './values/message.ts';

interface DeskOptions extends Omit<PrintOptions, 'port' | 'host'> {
  readonly port?: number;
  readonly host?: string;
  readonly open?: true;
}

const PORT = 8081;

export function declareDesk(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command), 'REGISTRY_USER')
    .option(
      '--port <n>',
      `port of 127.0.0.1 to listen on (default: ${PORT}, or a free one if that is in use)`,
      (text) => accept(parsePort(text)),
    )
    .option('--open', 'open the link in the browser of this machine (xdg-open) instead of printing it')
    // Declared only so that the error can explain how to connect from another machine.
    .addOption(new Option('--host <address>').hideHelp())
    .action((options: DeskOptions) => runDesk(context, options));
}

async function runDesk(context: CliContext, options: DeskOptions): Promise<void> {
  if (options.host !== undefined)
    throw new CommandError(
      EXIT.usage,
      'The desk listens on 127.0.0.1 only. From another machine: ssh -L 8081:127.0.0.1:8081 USER@SERVER',
    );
  const { port: _port, host: _host, open: _open, ...settings } = options;
  const config = configOf(context, settings);
  const user = describeUser(config);
  const storage = openConfiguredStorage(config, context.clock);
  const link = await askOpenDesk(deskFileOf(storage.location), user);
  if (link === undefined) return await open(context, options, { config, storage, user });
  if (options.open !== true) tell(context, 'The desk is open already: this is a new link to it.');
  await show(context, options, link);
}

async function open(
  context: CliContext,
  options: DeskOptions,
  { config, storage, user }: { readonly config: Config; readonly storage: Storage; readonly user: string },
): Promise<void> {
  const { clock } = context;
  if (!storage.exists())
    throw new CommandError(
      EXIT.usage,
      say('There is no registry at {location}. Create one with `seed`, `import` or `serve --create`.', {
        location: storage.location,
      }),
    );
  // Throws for a registry of another release, before the desk listens.
  sequenceOf(storage);
  const owner = otherOwner(deskFileOf(storage.location));
  if (owner !== undefined)
    tell(context, say('Another user (uid {uid}) may have a desk open. This one is yours.', { uid: owner }));
  const secret = newSecret();
  const ledger = config.accessLedger ? openCommandLedger(storage.pathForOpening()) : undefined;
  const program = process.argv[1] ?? '';
  const desk = { config, clock, storage, ledger, report: context.err, secret, program };
  try {
    const server = await listen(context, options, desk);
    const stopped = stopSignal();
    const takeBack =
      owner === undefined
        ? announceDesk(deskFileOf(storage.location), { port: server.port, secret })
        : () => {};
    try {
      await show(context, options, server.issueLink(user));
      await stopped;
    } finally {
      takeBack();
      await server.close();
    }
  } finally {
    await ledger?.close();
  }
}

async function listen(context: CliContext, { port }: DeskOptions, desk: Parameters<typeof openDesk>[0]) {
  try {
    return await openDesk(desk, port ?? PORT);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && port === undefined) {
      tell(context, say('Port {port} is in use: the desk takes a free one.', { port: PORT }));
      return await openDesk(desk, 0);
    }
    throw toListenError(error, { host: '127.0.0.1', port: port ?? PORT, setting: '--port' });
  }
}

async function show(context: CliContext, { json, open }: DeskOptions, link: string): Promise<void> {
  if (open === true) {
    const fault = await openInBrowser(link, context.env);
    if (fault === undefined) return;
    tell(context, say('No browser could be opened ({fault}). Open the link yourself.', { fault }));
  }
  if (json === true) context.out(formatJson({ link }));
  else print(context, say('Open the desk within a minute, once: {link}', { link }));
}
