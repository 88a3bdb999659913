/** `webhooks test` and `webhooks replay`: one message, sent by the command itself. */
import { type Command, InvalidArgumentError } from 'commander';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import { RegistryError } from '../../domain/values/errors.ts';
import type { RegistryStore } from '../../store/contract/registry.ts';
import type { WebhookEndpoint, WebhookStore } from '../../store/contract/webhooks.ts';
import {
  SigningKeys,
  signedHeaders,
  testMessage,
  toAttempt,
  type WebhookMessage,
} from '../../webhooks/message.ts';
import { messageOf } from '../../webhooks/next-message.ts';
import { post } from '../../webhooks/post.ts';
import { findPause } from '../../webhooks/receiving-key.ts';
import { requestHeaders } from '../../webhooks/service.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { acting, type Run } from '../terminal/run.ts';
import { describeAttempt } from './endpoint-text.ts';
import { findKey, refused, withEndpoint, withRegistry } from './open-webhooks.ts';

export function parseSequence(text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the sequence number of an event.');
}

export function declareTest(command: Command, context: CliContext): void {
  command.description('send a message of the type webhook.test, and show what the receiver answers').action(
    acting(context, (run, id: number) =>
      withEndpoint(run, id, async (store, endpoint) => {
        await receivingKey(run, endpoint);
        await send(run, store, endpoint, testMessage(id, run.now, run.zone));
      }),
    ),
  );
}

export function declareReplay(command: Command, context: CliContext): void {
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

/** Sends it, keeps the attempt, and prints it. When the receiver takes it, what fails is tried again. */
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
