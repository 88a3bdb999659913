/** What the commands on webhooks have in common: their stores, and the endpoint that they name. */
import type { Command } from 'commander';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { RegistryStore } from '../../store/contract/registry.ts';
import type { WebhookEndpoint, WebhookStore } from '../../store/contract/webhooks.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { parseIdOf } from '../terminal/options.ts';
import type { Run } from '../terminal/run.ts';
import { withStore } from '../terminal/with-store.ts';

export const addEndpoint = (command: Command): Command =>
  command.argument('<endpoint>', 'id of the endpoint', parseIdOf('an endpoint, as `webhooks list`'));

export const refused = (message: string): CommandError => new CommandError(EXIT.refused, message);

/** @throws CommandError when no endpoint was ever added */
export async function withWebhooks<T>(
  { storage }: Run,
  work: (store: WebhookStore) => Awaitable<T>,
): Promise<T> {
  if (!storage.hasWebhooks()) throw refused('There are no endpoints yet: `webhooks add` adds one.');
  return withStore(storage.openWebhooks('manage'), work);
}

/** @throws CommandError when there is no such endpoint */
export const withEndpoint = <T>(
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
export async function withRegistry<T>(
  { storage }: Run,
  work: (store: RegistryStore) => Awaitable<T>,
): Promise<T> {
  if (!storage.exists()) throw new CommandError(EXIT.usage, `There is no registry at ${storage.location}.`);
  return withStore(storage.openRegistry(), work);
}

export const findKey = ({ storage, now }: Run, id: number): Promise<ApiKey | undefined> =>
  withStore(storage.openKeys('manage'), (keys) => keys.find(id, now));
