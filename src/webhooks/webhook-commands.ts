/** The `webhooks` commands, which manage the endpoints that receive changes (docs/webhooks.md). */
import { type Command, InvalidArgumentError } from 'commander';
import { openKeys } from '../access/api-key-store.ts';
import type { ApiKey } from '../access/api-keys.ts';
import { openRegistry, type RegistryStore } from '../open-registry.ts';
import { parseTypes } from '../registry/changes/events.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { accept, parseDuration, parseIdOf, split, withNew } from '../terminal/options.ts';
import { formatRows } from '../terminal/output.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/signals.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type Awaitable, FieldError, RegistryError } from '../values/errors.ts';
import { FAILURES_TO_REPORT, findPause, messageOf } from './next-message.ts';
import {
  hasWebhooks,
  openWebhooks,
  type WebhookAttempt,
  type WebhookEndpoint,
  type WebhookStore,
} from './open-webhook-store.ts';
import { post } from './post.ts';
import { requestHeaders } from './service.ts';
import { leadsToPrivateAddress, parseTarget, WEBHOOK_TYPES, type WebhookType } from './target.ts';
import {
  formatSecret,
  newSecret,
  SigningKeys,
  signedHeaders,
  testMessage,
  toAttempt,
  type WebhookMessage,
} from './webhook-message.ts';

// Output of endpoints and attempts

/** An endpoint with the data that determines its state. */
interface ShownEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly key: ApiKey | undefined;
  readonly lastAttempt: WebhookAttempt | undefined;
}

export interface Showing {
  /** Epoch seconds. */
  readonly now: number;
  readonly zone: TimeZone;
}

const timeOf = (ms: number, { zone }: Showing): string => formatDateTime(Math.floor(ms / 1000), zone);

function stateOf(
  { endpoint, key }: ShownEndpoint,
  { now }: Showing,
): { state: string; reason: string | null } {
  if (endpoint.disabledAt !== null) return { state: 'disabled', reason: 'the receiver answered 410' };
  const pause = findPause(key, now);
  if (pause !== undefined) return { state: 'paused', reason: pause };
  if (endpoint.failures === 0) return { state: 'active', reason: null };
  return { state: endpoint.failures < FAILURES_TO_REPORT ? 'retrying' : 'failing', reason: null };
}

function describeEndpoint(shown: ShownEndpoint, showing: Showing) {
  const { endpoint, lastAttempt } = shown;
  const { state, reason } = stateOf(shown, showing);
  return {
    id: String(endpoint.id),
    key_id: String(endpoint.keyId),
    url: endpoint.url,
    events: endpoint.types,
    allow_private: endpoint.allowsPrivate,
    state,
    reason: reason ?? (endpoint.failures > 0 ? (lastAttempt?.fault ?? null) : null),
    last_sequence: endpoint.position.sequence,
    failures: endpoint.failures,
    failing_sequence: endpoint.failingSequence,
    next_attempt_at: endpoint.nextAttemptAtMs === 0 ? null : timeOf(endpoint.nextAttemptAtMs, showing),
    last_attempt_at: lastAttempt === undefined ? null : timeOf(lastAttempt.atMs, showing),
    created_at: formatDateTime(endpoint.createdAt, showing.zone),
  };
}

type DescribedEndpoint = ReturnType<typeof describeEndpoint>;

/** Formats one row for each endpoint, and below the table a line for each that is not delivering. */
export function formatEndpoints(endpoints: readonly DescribedEndpoint[]): string {
  const table = formatRows(endpoints, {
    ID: 'id',
    KEY: 'key_id',
    STATE: 'state',
    'DONE UP TO': 'last_sequence',
    'LAST ATTEMPT': (each) => each.last_attempt_at ?? 'never',
    EVENTS: (each) => each.events?.join(' ') ?? 'all',
    URL: 'url',
  });
  return table + endpoints.map(formatTrouble).join('');
}

function formatTrouble(each: DescribedEndpoint): string {
  if (each.reason === null) return '';
  const start = `Endpoint ${each.id} is ${each.state}: ${each.reason}`;
  if (each.failures === 0 || each.state === 'paused') return `${start}\n`;
  const times = each.failures === 1 ? 'once' : `${each.failures} times`;
  const message = each.failing_sequence === null ? 'feed.restarted' : `event ${each.failing_sequence}`;
  const what = `${message} failed ${times}`;
  const next = each.state === 'disabled' ? '' : `, next attempt ${each.next_attempt_at ?? 'at once'}`;
  return `${start} (${what}${next})\n`;
}

const describeAttempt = (attempt: WebhookAttempt, showing: Showing) => ({
  webhook_id: attempt.webhookId,
  type: attempt.type,
  sequence: attempt.sequence,
  attempted_at: timeOf(attempt.atMs, showing),
  duration_ms: attempt.durationMs,
  status: attempt.status,
  delivered: attempt.fault === null,
  fault: attempt.fault,
});

const formatAttempts = (attempts: readonly ReturnType<typeof describeAttempt>[]): string =>
  formatRows(attempts, {
    AT: 'attempted_at',
    TYPE: 'type',
    SEQUENCE: 'sequence',
    RESULT: ({ fault, status }) => fault ?? `delivered (${status})`,
    TOOK: ({ duration_ms: ms }) => `${Math.round(ms)} ms`,
  });

/** Collects webhook types, or groups of them such as `member.*`. */
const collectTypes = (text: string, before: readonly WebhookType[] = []): readonly WebhookType[] =>
  withNew(before, accept(parseTypes(split(text), WEBHOOK_TYPES)));

// Helpers of the webhook commands

const addEndpoint = (command: Command): Command =>
  command.argument('<endpoint>', 'id of the endpoint', parseIdOf('an endpoint, as `webhooks list`'));

export const refused = (message: string): CommandError => new CommandError(EXIT.refused, message);

/** @throws CommandError when no endpoint was ever added */
async function withWebhooks<T>({ storage }: Run, work: (store: WebhookStore) => Awaitable<T>): Promise<T> {
  if (!hasWebhooks(storage)) throw refused('There are no endpoints yet: `webhooks add` adds one.');
  return withStore(openWebhooks(storage, 'manage'), work);
}

/** @throws CommandError when there is no such endpoint */
const withEndpoint = <T>(
  run: Run,
  id: number,
  work: (store: WebhookStore, endpoint: WebhookEndpoint) => Awaitable<T>,
): Promise<T> =>
  withWebhooks(run, (store) => {
    const endpoint = store.find(id);
    if (endpoint === undefined)
      throw refused('There is no endpoint with this id. `webhooks list` shows all.');
    return work(store, endpoint);
  });

/** @throws StorageError, CommandError when there is no registry */
async function withRegistry<T>({ storage }: Run, work: (store: RegistryStore) => Awaitable<T>): Promise<T> {
  if (!storage.exists()) throw new CommandError(EXIT.usage, `There is no registry at ${storage.location}.`);
  return withStore(openRegistry(storage), work);
}

const findKey = ({ storage, now }: Run, id: number): Promise<ApiKey | undefined> =>
  withStore(openKeys(storage, 'manage'), (keys) => keys.find(id, now));

// `webhooks test` and `webhooks replay`, which send one message themselves

function parseSequence(text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the sequence number of an event.');
}

function declareTest(command: Command, context: CliContext): void {
  command.description('send a message of the type webhook.test, and show what the receiver answers').action(
    acting(context, (run, id: number) =>
      withEndpoint(run, id, async (store, endpoint) => {
        await receivingKey(run, endpoint);
        await send(run, store, endpoint, testMessage(id, run.now, run.zone));
      }),
    ),
  );
}

function declareReplay(command: Command, context: CliContext): void {
  command
    .argument('<sequence>', 'number of the event', parseSequence)
    .description('send an event once more, with the webhook-id that it had')
    .action(
      acting(context, (run, id: number, sequence: number) =>
        withEndpoint(run, id, async (store, endpoint) => {
          const key = await receivingKey(run, endpoint);
          const message = await withRegistry(run, (registry) =>
            findMessage(registry, { endpoint, key, sequence }, run),
          );
          await send(run, store, endpoint, message);
        }),
      ),
    );
}

/** @throws CommandError when the key may not receive */
async function receivingKey(run: Run, { keyId }: WebhookEndpoint): Promise<ApiKey> {
  const key = await findKey(run, keyId);
  const pause = findPause(key, run.now);
  if (key === undefined || pause !== undefined)
    throw refused(`Nothing was sent: the endpoint belongs to key ${keyId}, and ${pause}.`);
  return key;
}

/** @throws CommandError when there is no such event, or the key does not see it */
async function findMessage(
  registry: RegistryStore,
  { endpoint, key, sequence }: { endpoint: WebhookEndpoint; key: ApiKey; sequence: number },
  { zone }: Run,
): Promise<WebhookMessage> {
  const { events } = registry.narrowedTo(key.cooperatives);
  try {
    const page = events.read({ after: sequence - 1, limit: 1, epoch: undefined });
    const event = page.events[0];
    if (event?.sequence === sequence) {
      const told = { event, endpointId: endpoint.id, epoch: page.epoch };
      return await messageOf(registry, key.cooperatives, told, zone);
    }
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code !== 'gone') throw error;
  }
  throw refused(`There is no event ${sequence} that this endpoint could get.`);
}

/** Sends a message, then stores and prints the attempt. On success, a failing message is retried at once. */
async function send(
  run: Run,
  store: WebhookStore,
  { id, url, allowsPrivate, failures, disabledAt }: WebhookEndpoint,
  message: WebhookMessage,
): Promise<void> {
  const { clock, now } = run;
  const secrets = store.listSecrets(id, now);
  const headers = { ...requestHeaders(), ...signedHeaders(message, new SigningKeys().of(secrets), now) };
  const atMs = clock.now();
  const result = await post({ url, allowsPrivate, headers, body: message.body }, { clock });
  const attempt = toAttempt(message, atMs, result);
  store.keepAttempt(id, attempt);
  const { fault, status } = attempt;
  const delivered = fault === null ? `Delivered ${message.id}: the response was ${status}.\n` : '';
  run.show(describeAttempt(attempt, run), delivered);
  if (fault !== null)
    throw new CommandError(EXIT.refused, run.options.json === true ? '' : `Not delivered. ${fault}`);
  if (failures > 0 && disabledAt === null) store.resume(id);
}

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
  // Starts at the end of the sequence; receivers read earlier events over HTTP.
  const page = await withRegistry(run, async (registry) => {
    await assertReceives(run, keyId);
    return registry.events.read({ after: undefined, limit: 1, epoch: undefined });
  });
  const position = { epoch: page.epoch, sequence: page.lastSequence };
  const secret = newSecret();
  const values = { keyId, url, types, allowsPrivate };
  const endpoint = await withStore(openWebhooks(run.storage, 'issue'), (store) =>
    store.add(values, secret, position, run.now),
  );
  const note = `, from event ${position.sequence + 1} on`;
  await printSecret(run, endpoint, secret, note);
}

/** @throws CommandError for a URL that deliveries would refuse */
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

/** @throws CommandError when the key would receive nothing */
async function assertReceives(run: Run, keyId: number): Promise<void> {
  const key = await findKey(run, keyId);
  if (key === undefined) throw refused('There is no key with this id. `keys list` shows all.');
  const pause = findPause(key, run.now);
  if (pause !== undefined) throw refused(`Key ${keyId} would get nothing: ${pause}.`);
}

/** Prints an endpoint with its secret, which is never shown again. @param note ends the endpoint's line */
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
      const all = hasWebhooks(run.storage) ? await withWebhooks(run, (store) => listAll(run, store)) : [];
      const webhooks = all.map((shown) => describeEndpoint(shown, run));
      run.show({ webhooks }, formatEndpoints(webhooks));
    }),
  );
}

const listAll = (run: Run, store: WebhookStore): Promise<ShownEndpoint[]> =>
  withStore(openKeys(run.storage, 'manage'), (keys) => {
    const all: ShownEndpoint[] = [];
    for (const endpoint of store.list()) {
      const [lastAttempt] = store.listAttempts(endpoint.id, 1);
      all.push({ endpoint, key: keys.find(endpoint.keyId, run.now), lastAttempt });
    }
    return all;
  });

/** All attempts that are kept. */
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
