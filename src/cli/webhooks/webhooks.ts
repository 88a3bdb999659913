/** `webhooks`: the endpoints that are told of changes (docs/webhooks.md). */
import type { Command } from 'commander';
import { formatDateTime } from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { parseTarget } from '../../domain/webhooks/target.ts';
import type { WebhookType } from '../../domain/webhooks/types.ts';
import type { WebhookEndpoint, WebhookStore } from '../../store/contract/webhooks.ts';
import { formatSecret, newSecret } from '../../webhooks/message.ts';
import { leadsToPrivateAddress } from '../../webhooks/public-lookup.ts';
import { findPause } from '../../webhooks/receiving-key.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { collectTypes, parseDuration, parseIdOf } from '../terminal/options.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import {
  describeAttempt,
  describeEndpoint,
  formatAttempts,
  formatEndpoints,
  type ShownEndpoint,
} from './endpoint-text.ts';
import { addEndpoint, findKey, refused, withEndpoint, withRegistry, withWebhooks } from './open-webhooks.ts';
import { declareReplay, declareTest, parseSequence } from './send.ts';

export function declareWebhooks(webhooks: Command, context: CliContext): void {
  const command = (name: string) => addPrintOptions(showingNobody(webhooks.command(name)));
  const one = (name: string) => addEndpoint(command(name));
  declareAdd(command('add'), context);
  declareList(command('list'), context);
  declareTest(one('test'), context);
  declareDeliveries(one('deliveries'), context);
  declareReplay(one('replay'), context);
  declareSkip(one('skip'), context);
  declareRotate(one('rotate'), context);
  declareEnable(one('enable'), context);
  declareRemove(one('remove'), context);
}

interface AddOptions extends PrintOptions {
  readonly key?: number;
  readonly url?: string;
  readonly events?: readonly WebhookType[];
  readonly allowPrivate?: true;
}

function declareAdd(command: Command, context: CliContext): void {
  command
    .description('add an endpoint, and print the secret that signs its deliveries, once')
    .option(
      '--key <id>',
      'key of the receiver, with the scope webhooks:receive (required)',
      parseIdOf('a key, as `keys list`'),
    )
    .option('--url <url>', 'where deliveries are posted to (required)')
    .option(
      '--events <type>',
      'types that it gets, or kinds such as member.*; repeat the option, or separate with commas ' +
        '(default: all)',
      collectTypes,
    )
    .option('--allow-private', 'allow plain HTTP, and addresses that are not public (default: no)')
    .addHelpText(
      'after',
      '\nExample:\n  webhooks add --key 7 --url https://portal.example.rw/hooks/registry\n',
    )
    .action(acting(context, add));
}

async function add(run: Run<AddOptions>): Promise<void> {
  const { key: keyId, url, events: types = null, allowPrivate } = run.options;
  if (keyId === undefined) throw new CommandError(EXIT.usage, 'Name the key of the receiver: --key 7.');
  if (url === undefined) throw new CommandError(EXIT.usage, 'Name the URL of the receiver: --url https://….');
  const allowsPrivate = allowPrivate === true;
  await assertTarget(run, url, allowsPrivate);
  // The end of the sequence: what happened before, the receiver reads over HTTP.
  const page = await withRegistry(run, async (registry) => {
    await assertReceives(run, keyId);
    return registry.events.read({ after: undefined, limit: 1, epoch: undefined });
  });
  const position = { epoch: page.epoch, sequence: page.lastSequence };
  const secret = newSecret();
  const values = { keyId, url, types, allowsPrivate };
  const endpoint = await withStore(run.storage.openWebhooks('issue'), (store) =>
    store.add(values, secret, position, run.now),
  );
  const note = `, from event ${position.sequence + 1} on`;
  await printSecret(run, endpoint, secret, note);
}

/** @throws CommandError for a URL to which nothing would be sent */
async function assertTarget({ err }: CliContext, url: string, allowsPrivate: boolean): Promise<void> {
  const target = parseTarget(url, allowsPrivate);
  if (target instanceof FieldError) throw new CommandError(EXIT.usage, `--url: ${target.message}`);
  if (allowsPrivate) return;
  const isPrivate = await leadsToPrivateAddress(target);
  if (isPrivate === true)
    throw new CommandError(
      EXIT.usage,
      '--url: The name of the host leads to an address that is not public. ' +
        'To send inside your own network, add --allow-private.',
    );
  if (isPrivate === undefined)
    err(`The name ${target.hostname} cannot be resolved now. The endpoint is added all the same.\n`);
}

/** @throws CommandError when the key would get nothing */
async function assertReceives(run: Run, keyId: number): Promise<void> {
  const key = await findKey(run, keyId);
  if (key === undefined) throw refused('There is no key with this id. `keys list` shows all.');
  const pause = findPause(key, run.now);
  if (pause !== undefined) throw refused(`Key ${keyId} would get nothing: ${pause}.`);
}

/** Prints an endpoint with its secret: the only time that it is shown. @param note ends its line */
async function printSecret(
  run: Run,
  endpoint: WebhookEndpoint,
  secret: Uint8Array,
  note: string,
): Promise<void> {
  const text = formatSecret(secret);
  const shown = { endpoint, key: await findKey(run, endpoint.keyId), lastAttempt: undefined };
  const line = `Endpoint ${endpoint.id}: ${endpoint.url}${note}.\n`;
  run.show({ ...describeEndpoint(shown, run), secret: text }, `${line}\n${text}\n`);
  if (run.options.json !== true)
    run.err('This is the only time the secret is shown. Keep it like a password.\n');
}

function declareList(command: Command, context: CliContext): void {
  command.description('list all endpoints: how far each has got, and what fails').action(
    acting(context, async (run) => {
      const all = run.storage.hasWebhooks() ? await withWebhooks(run, (store) => listAll(run, store)) : [];
      const webhooks = all.map((shown) => describeEndpoint(shown, run));
      run.show({ webhooks }, formatEndpoints(webhooks));
    }),
  );
}

const listAll = (run: Run, store: WebhookStore): Promise<ShownEndpoint[]> =>
  withStore(run.storage.openKeys('manage'), (keys) => {
    const all: ShownEndpoint[] = [];
    for (const endpoint of store.list()) {
      const [lastAttempt] = store.listAttempts(endpoint.id, 1);
      all.push({ endpoint, key: keys.find(endpoint.keyId, run.now), lastAttempt });
    }
    return all;
  });

/** As many as are kept. */
const SHOWN_ATTEMPTS = 200;

function declareDeliveries(command: Command, context: CliContext): void {
  command.description('the last attempts to deliver to an endpoint, newest first').action(
    acting(context, async (run, id: number) => {
      const attempts = await withEndpoint(run, id, (store) => store.listAttempts(id, SHOWN_ATTEMPTS));
      const deliveries = attempts.map((attempt) => describeAttempt(attempt, run));
      run.show({ deliveries }, formatAttempts(deliveries));
    }),
  );
}

function declareSkip(command: Command, context: CliContext): void {
  command
    .argument('<sequence>', 'number of the event', parseSequence)
    .description('pass over an event that the receiver does not take; what follows is delivered')
    .action(
      acting(context, async (run, id: number, sequence: number) => {
        await withEndpoint(run, id, async (store, { position }) => {
          const end = await withRegistry(run, (registry) =>
            registry.events.read({ after: undefined, limit: 1, epoch: undefined }),
          );
          if (end.epoch === position.epoch && sequence <= position.sequence)
            throw refused(`Event ${sequence} was delivered or passed over already.`);
          if (sequence > end.lastSequence) throw refused(`There is no event ${sequence} yet.`);
          store.skip(id, sequence);
        });
        const done = `Event ${sequence} will not be delivered to endpoint ${id}.\n`;
        run.show({ id: String(id), skipped: sequence }, done);
      }),
    );
}

function declareRotate(command: Command, context: CliContext): void {
  command
    .description('give an endpoint a new secret, which is printed once')
    .option(
      '--overlap <time>',
      'how long deliveries carry a signature by the old secret as well: 90s, 30m, 24h, 7d, at most 90d ' +
        '(default: not at all)',
      parseDuration,
    )
    .action(
      acting(context, async (run: Run<PrintOptions & { readonly overlap?: number }>, id: number) => {
        const { overlap = 0 } = run.options;
        const secret = newSecret();
        const endpoint = await withEndpoint(run, id, (store, found) => {
          store.rotate(id, secret, overlap, run.now);
          return found;
        });
        const end = formatDateTime(run.now + overlap, run.zone);
        const note =
          overlap > 0 ? `; the old secret signs as well until ${end}` : '; the old secret has ended';
        await printSecret(run, endpoint, secret, note);
      }),
    );
}

function declareEnable(command: Command, context: CliContext): void {
  command.description('go on with an endpoint that has answered 410, or try again at once what fails').action(
    acting(context, async (run, id: number) => {
      await withEndpoint(run, id, (store) => store.resume(id));
      run.show({ id: String(id), enabled: true }, `Endpoint ${id} goes on.\n`);
    }),
  );
}

function declareRemove(command: Command, context: CliContext): void {
  addConfirmOptions(command)
    .description('remove an endpoint with its secret; nothing more is delivered to it')
    .action(
      acting(context, async (run: Run<PrintOptions & ConfirmOptions>, id: number) => {
        const removed = run.options.dryRun !== true;
        await withEndpoint(run, id, async (store, { url }) => {
          await confirm(run, run.options, async () => run.err(`Endpoint ${id} would be removed: ${url}\n`));
          if (removed) store.remove(id);
        });
        run.show({ id: String(id), removed }, `Endpoint ${id} ${removed ? 'was' : 'would be'} removed.\n`);
      }),
    );
}
