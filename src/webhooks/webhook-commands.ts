/** The `webhooks` commands, which manage the endpoints that receive changes (docs/webhooks.md). */
import { type Command, InvalidArgumentError } from 'commander';
import { openKeys } from '../access/api-key-store.ts';
import type { ApiKey, Visible } from '../access/api-keys.ts';
import { parseTypes } from '../events/event-store.ts';
import { openRegistry, type RegistryStore } from '../open-registry.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { accept, parseDuration, parseIdOf, split, withNew } from '../terminal/options.ts';
import { formatRows } from '../terminal/output.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type Awaitable, FieldError, RegistryError } from '../values/errors.ts';
import { FAILURES_TO_REPORT, findPause, messageOf, readEnd } from './next-message.ts';
import {
  hasWebhooks,
  openWebhooks,
  type WebhookAttempt,
  type WebhookEndpoint,
  type WebhookStore,
} from './open-webhook-store.ts';
import { post } from './post.ts';
import { leadsToPrivateAddress, parseTarget, WEBHOOK_TYPES, type WebhookType } from './target.ts';
import {
  formatSecret,
  newSecret,
  signedHeaders,
  testMessage,
  toAttempt,
  type WebhookMessage,
} from './webhook-message.ts';

const timeOf = (ms: number, { zone }: Run): string => formatDateTime(Math.floor(ms / 1000), zone);

function stateOf(
  endpoint: WebhookEndpoint,
  key: ApiKey | undefined,
  now: number,
): [state: string, reason?: string] {
  if (endpoint.disabledAt !== null) return ['disabled', 'the receiver answered 410'];
  const pause = findPause(key, now);
  if (pause !== undefined) return ['paused', pause];
  if (endpoint.failures === 0) return ['active'];
  return [endpoint.failures < FAILURES_TO_REPORT ? 'retrying' : 'failing'];
}

/** @param key undefined if the key was removed */
function describeEndpoint(
  run: Run,
  endpoint: WebhookEndpoint,
  key: ApiKey | undefined,
  lastAttempt?: WebhookAttempt,
) {
  const [state, reason] = stateOf(endpoint, key, run.now);
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
    next_attempt_at: endpoint.nextAttemptAtMs === 0 ? null : timeOf(endpoint.nextAttemptAtMs, run),
    last_attempt_at: lastAttempt === undefined ? null : timeOf(lastAttempt.atMs, run),
    created_at: formatDateTime(endpoint.createdAt, run.zone),
  };
}

type DescribedEndpoint = ReturnType<typeof describeEndpoint>;

function formatEndpoints(endpoints: readonly DescribedEndpoint[]): string {
  const table = formatRows(endpoints, {
    ID: 'id',
    KEY: 'key_id',
    STATE: 'state',
    'DONE UP TO': 'last_sequence',
    'LAST ATTEMPT': ({ last_attempt_at: at }) => at ?? 'never',
    EVENTS: ({ events }) => events?.join(' ') ?? 'all',
    URL: 'url',
  });
  return table + endpoints.map(formatReason).join('');
}

function formatReason(endpoint: DescribedEndpoint): string {
  const { id, state, reason, failures, failing_sequence, next_attempt_at } = endpoint;
  if (reason === null) return '';
  const start = `Endpoint ${id} is ${state}: ${reason}`;
  if (failures === 0 || state === 'paused') return `${start}\n`;
  const times = failures === 1 ? 'once' : `${failures} times`;
  const message = failing_sequence === null ? 'feed.restarted' : `event ${failing_sequence}`;
  const next = state === 'disabled' ? '' : `, next attempt ${next_attempt_at ?? 'at once'}`;
  return `${start} (${message} failed ${times}${next})\n`;
}

const describeAttempt = (attempt: WebhookAttempt, run: Run) => ({
  webhook_id: attempt.webhookId,
  type: attempt.type,
  sequence: attempt.sequence,
  attempted_at: timeOf(attempt.atMs, run),
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

const collectTypes = (text: string, before: readonly WebhookType[] = []): readonly WebhookType[] =>
  withNew(before, accept(parseTypes(split(text), WEBHOOK_TYPES)));

const refused = (message: string): CommandError => new CommandError(EXIT.refused, message);

export function declareWebhooks(webhooks: Command, context: CliContext): void {
  const command = (name: string, description: string) =>
    addPrintOptions(showingNobody(webhooks.command(name))).description(description);
  const one = (name: string, description: string) =>
    command(name, description).argument(
      '<endpoint>',
      'id of the endpoint',
      parseIdOf('an endpoint, as `webhooks list`'),
    );
  command('add', 'add an endpoint, and print the secret that signs its deliveries, once')
    .option(
      '--key <id>',
      'key of the receiver, with the scope webhooks:receive (required)',
      parseIdOf('a key, as `keys list`'),
    )
    .option('--url <url>', 'URL that deliveries are posted to (required)')
    .option(
      '--events <type>',
      'event types that it receives, or kinds such as member.*; repeat the option, or separate with commas ' +
        '(default: all)',
      collectTypes,
    )
    .option('--allow-private', 'allow plain HTTP, and addresses that are not public (default: no)')
    .addHelpText(
      'after',
      '\nExample:\n  webhooks add --key 7 --url https://portal.example.rw/hooks/registry\n',
    )
    .action(acting(context, add));
  command('list', 'list all endpoints: how far each has got, and what fails').action(acting(context, list));
  one('test', 'send a message of the type webhook.test, and show what the receiver answers').action(
    actingOn(context, test),
  );
  one('deliveries', 'the last attempts to deliver to an endpoint, newest first').action(
    actingOn(context, listDeliveries),
  );
  one('replay', 'send an event once more, with the webhook-id that it had')
    .argument('<sequence>', 'number of the event', parseSequence)
    .action(actingOn(context, replay));
  one('skip', 'skip an event that the receiver does not accept; later events are delivered')
    .argument('<sequence>', 'number of the event', parseSequence)
    .action(actingOn(context, skip));
  one('rotate', 'give an endpoint a new secret, which is printed once')
    .option(
      '--overlap <time>',
      'how long deliveries carry a signature by the old secret as well: 90s, 30m, 24h, 7d, at most 90d ' +
        '(default: not at all)',
      parseDuration,
    )
    .action(actingOn(context, rotate));
  one(
    'enable',
    'continue with an endpoint that has answered 410, or retry a failing delivery at once',
  ).action(actingOn(context, enable));
  addConfirmOptions(
    one('remove', 'remove an endpoint with its secret; nothing more is delivered to it'),
  ).action(actingOn(context, remove));
}

function parseSequence(text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the sequence number of an event.');
}

/** The action throws a CommandError if the endpoint does not exist. */
const actingOn = <Options extends PrintOptions>(
  context: CliContext,
  work: (
    run: Run<Options>,
    endpoint: WebhookEndpoint,
    store: WebhookStore,
    sequence: number,
  ) => Awaitable<void>,
) =>
  acting(context, (run: Run<Options>, id: number, sequence: number) => {
    if (!hasWebhooks(run.storage.location))
      throw refused('There are no endpoints yet: `webhooks add` adds one.');
    return withStore(openWebhooks(run.storage, 'manage'), (store) => {
      const endpoint = store.find(id);
      if (endpoint === undefined)
        throw refused('There is no endpoint with this id. `webhooks list` shows all.');
      return work(run, endpoint, store, sequence);
    });
  });

/** @throws CommandError if there is no registry, since `openRegistry` would create a file */
async function withRegistry<T>({ storage }: Run, work: (store: RegistryStore) => Awaitable<T>): Promise<T> {
  if (!storage.exists()) throw new CommandError(EXIT.usage, `There is no registry at ${storage.location}.`);
  return withStore(openRegistry(storage), work);
}

const findKey = ({ storage, now }: Run, id: number): Promise<ApiKey | undefined> =>
  withStore(openKeys(storage, 'manage'), (keys) => keys.find(id, now));

// `webhooks add`, `rotate` and `list`

interface AddOptions extends PrintOptions {
  readonly key?: number;
  readonly url?: string;
  readonly events?: readonly WebhookType[];
  readonly allowPrivate?: true;
}

async function add(run: Run<AddOptions>): Promise<void> {
  const { key: keyId, url, events: types = null, allowPrivate } = run.options;
  if (keyId === undefined) throw new CommandError(EXIT.usage, 'Name the key of the receiver: --key 7.');
  if (url === undefined) throw new CommandError(EXIT.usage, 'Name the URL of the receiver: --url https://….');
  const allowsPrivate = allowPrivate === true;
  await assertTarget(run, url, allowsPrivate);
  // Deliveries start with the next event; receivers read earlier events over HTTP.
  const position = await withRegistry(run, async (registry) => {
    await assertReceives(run, keyId);
    return readEnd(registry);
  });
  const secret = newSecret();
  const values = { keyId, url, types, allowsPrivate };
  const endpoint = await withStore(openWebhooks(run.storage, 'issue'), (store) =>
    store.add(values, secret, position, run.now),
  );
  await printSecret(run, endpoint, secret, `, from event ${position.sequence + 1} on`);
}

/** @throws CommandError for a URL to which the service would not deliver */
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

/** @throws CommandError if the key would receive nothing */
async function assertReceives(run: Run, keyId: number): Promise<void> {
  const key = await findKey(run, keyId);
  if (key === undefined) throw refused('There is no key with this id. `keys list` shows all.');
  const pause = findPause(key, run.now);
  if (pause !== undefined) throw refused(`Key ${keyId} would get nothing: ${pause}.`);
}

async function printSecret(
  run: Run,
  endpoint: WebhookEndpoint,
  secret: Uint8Array,
  note: string,
): Promise<void> {
  const text = formatSecret(secret);
  const described = describeEndpoint(run, endpoint, await findKey(run, endpoint.keyId));
  const line = `Endpoint ${endpoint.id}: ${endpoint.url}${note}.\n`;
  run.show({ ...described, secret: text }, `${line}\n${text}\n`);
  if (run.options.json !== true)
    run.err('This is the only time the secret is shown. Keep it like a password.\n');
}

async function rotate(
  run: Run<PrintOptions & { readonly overlap?: number }>,
  endpoint: WebhookEndpoint,
  store: WebhookStore,
): Promise<void> {
  const { overlap = 0 } = run.options;
  const secret = newSecret();
  store.rotate(endpoint.id, secret, overlap, run.now);
  const end = formatDateTime(run.now + overlap, run.zone);
  const note = overlap > 0 ? `; the old secret signs as well until ${end}` : '; the old secret has ended';
  await printSecret(run, endpoint, secret, note);
}

async function list(run: Run): Promise<void> {
  const webhooks = hasWebhooks(run.storage.location) ? await describeEndpoints(run) : [];
  run.show({ webhooks }, formatEndpoints(webhooks));
}

const describeEndpoints = (run: Run): Promise<DescribedEndpoint[]> =>
  withStore(openWebhooks(run.storage, 'manage'), (store) =>
    withStore(openKeys(run.storage, 'manage'), (keys) =>
      store.list().map((endpoint) => {
        const [lastAttempt] = store.listAttempts(endpoint.id, 1);
        return describeEndpoint(run, endpoint, keys.find(endpoint.keyId, run.now), lastAttempt);
      }),
    ),
  );

// `webhooks test` and `webhooks replay`: the command sends the message

async function test(run: Run, endpoint: WebhookEndpoint, store: WebhookStore): Promise<void> {
  await getReceivingKey(run, endpoint);
  await send(run, store, endpoint, testMessage(endpoint.id, run.now, run.zone));
}

async function replay(
  run: Run,
  endpoint: WebhookEndpoint,
  store: WebhookStore,
  sequence: number,
): Promise<void> {
  const { cooperatives } = await getReceivingKey(run, endpoint);
  const message = await withRegistry(run, (registry) =>
    getMessage(registry, endpoint.id, cooperatives, sequence, run.zone),
  );
  await send(run, store, endpoint, message);
}

/** @throws CommandError if the key may not receive messages */
async function getReceivingKey(run: Run, { keyId }: WebhookEndpoint): Promise<ApiKey> {
  const key = await findKey(run, keyId);
  const pause = findPause(key, run.now);
  if (key === undefined || pause !== undefined)
    throw refused(`Nothing was sent: the endpoint belongs to key ${keyId}, and ${pause}.`);
  return key;
}

/** @throws CommandError if the event does not exist or is hidden from the key */
async function getMessage(
  registry: RegistryStore,
  endpointId: number,
  visible: Visible,
  sequence: number,
  zone: TimeZone,
): Promise<WebhookMessage> {
  try {
    const { events, epoch } = registry
      .narrowedTo(visible)
      .events.read({ after: sequence - 1, limit: 1, epoch: undefined });
    const [event] = events;
    if (event?.sequence === sequence)
      return await messageOf(registry, visible, event, { endpointId, epoch }, zone);
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code !== 'gone') throw error;
  }
  throw refused(`There is no event ${sequence} for this endpoint.`);
}

/**
 * Sends a message, then stores and prints the attempt. After a success, the service retries a failing message
 * at once, unless the endpoint is disabled.
 */
async function send(
  run: Run,
  store: WebhookStore,
  { id, url, allowsPrivate, failures, disabledAt }: WebhookEndpoint,
  message: WebhookMessage,
): Promise<void> {
  const { clock, now } = run;
  const secrets = store.listSecrets(id, now);
  const headers = signedHeaders(message, secrets, now);
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

// Commands about deliveries by the service

function listDeliveries(run: Run, { id }: WebhookEndpoint, store: WebhookStore): void {
  const deliveries = store.listAttempts(id).map((attempt) => describeAttempt(attempt, run));
  run.show({ deliveries }, formatAttempts(deliveries));
}

async function skip(
  run: Run,
  { id, position }: WebhookEndpoint,
  store: WebhookStore,
  sequence: number,
): Promise<void> {
  const end = await withRegistry(run, readEnd);
  if (end.epoch === position.epoch && sequence <= position.sequence)
    throw refused(`Event ${sequence} was delivered or passed over already.`);
  if (sequence > end.sequence) throw refused(`There is no event ${sequence} yet.`);
  store.skip(id, sequence);
  const text = `Event ${sequence} will not be delivered to endpoint ${id}.\n`;
  run.show({ id: String(id), skipped: sequence }, text);
}

function enable(run: Run, { id }: WebhookEndpoint, store: WebhookStore): void {
  store.resume(id);
  run.show({ id: String(id), enabled: true }, `Endpoint ${id} continues.\n`);
}

async function remove(
  run: Run<PrintOptions & ConfirmOptions>,
  { id, url }: WebhookEndpoint,
  store: WebhookStore,
): Promise<void> {
  const removed = run.options.dryRun !== true;
  await confirm(run, run.options, () => run.err(`Endpoint ${id} would be removed: ${url}\n`));
  if (removed) store.remove(id);
  run.show({ id: String(id), removed }, `Endpoint ${id} ${removed ? 'was' : 'would be'} removed.\n`);
}
