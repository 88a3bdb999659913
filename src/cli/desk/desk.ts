/** `desk`: a local page for those who run the registry (docs/desk.md). */

import { type Command, Option } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { type Config, parsePort } from '../../config.ts';
import { openDesk } from '../../desk/desk.ts';
import { newSecret } from '../../desk/server/sessions.ts';
import { say } from '../../domain/values/message.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT, print, tell } from '../terminal/context.ts';
import { toListenError } from '../terminal/listen-error.ts';
import { accept } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { stopSignal } from '../terminal/signals.ts';
import { describeUser } from '../terminal/system-user.ts';
import { announceDesk, askOpenDesk, otherOwner } from './open-desk.ts';
import { openInBrowser } from './open-in-browser.ts';

interface DeskOptions extends Omit<PrintOptions, 'port' | 'host' | 'open'> {
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
    // Not an unknown option: whoever tries it wants to know the way from elsewhere.
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
  const link = await askOpenDesk(storage.deskFile, user);
  if (link === undefined) return await open(context, { config, storage, user }, options);
  if (options.open !== true) tell(context, 'The desk is open already: this is a new link to it.');
  await show(context, options, link);
}

interface Opened {
  readonly config: Config;
  readonly storage: Storage;
  readonly user: string;
}

async function open(
  context: CliContext,
  { config, storage, user }: Opened,
  options: DeskOptions,
): Promise<void> {
  const { clock } = context;
  if (!storage.exists())
    throw new CommandError(
      EXIT.usage,
      say('There is no registry at {location}. Create one with `seed`, `import` or `serve --create`.', {
        location: storage.location,
      }),
    );
  // Refuses one of another release before anything listens.
  await storage.readCondition();
  const owner = otherOwner(storage.deskFile);
  if (owner !== undefined)
    tell(context, say('Another user (uid {uid}) may have a desk open. This one is yours.', { uid: owner }));
  const secret = newSecret();
  const ledger = config.accessLedger ? storage.openCommandLedger() : undefined;
  const program = process.argv[1] ?? '';
  const desk = { config, clock, storage, ledger, report: context.err, secret, program };
  try {
    const server = await listen(context, options, (port) => openDesk(desk, port));
    const stopped = stopSignal();
    const takeBack =
      owner === undefined ? announceDesk(storage.deskFile, { port: server.port, secret }) : () => {};
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

/** On the port that was asked for, else the usual one, else any that is free. */
async function listen<T>(
  context: CliContext,
  { port }: DeskOptions,
  on: (port: number) => Promise<T>,
): Promise<T> {
  try {
    return await on(port ?? PORT);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && port === undefined) {
      tell(context, say('Port {port} is in use: the desk takes a free one.', { port: PORT }));
      return await on(0);
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
