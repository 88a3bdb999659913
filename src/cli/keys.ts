/** `keys`: create, list, show, update, disable, enable and rotate API keys. */
import type { Command } from 'commander';
import { nowSeconds } from '../clock.ts';
import { readConfig } from '../config.ts';
import { type ApiKey, hasExpired, prefixOf, SCOPES, type Scope } from '../domain/api-keys.ts';
import type { TimeZone } from '../domain/date-time.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../domain/rate-limit.ts';
import { openConfiguredStorage } from '../storage.ts';
import type { ApiKeyStore, Awaitable, Storage } from '../store/ports.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { describeKey, issueSecret } from './key-text.ts';
import {
  collectAddresses,
  collectHosts,
  collectScopes,
  parseDuration,
  parseExpiry,
  parseLimit,
  parseName,
  parsePositiveId,
} from './options.ts';
import { formatTable } from './table.ts';

interface KeyOptions {
  readonly db?: string;
  readonly json?: boolean;
  readonly name?: string;
  readonly scope?: readonly Scope[];
  readonly allowIp?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly anyIp?: boolean;
  readonly anyHost?: boolean;
  readonly perHour?: number;
  readonly perDay?: number;
  readonly expires?: string;
  readonly neverExpires?: boolean;
  readonly overlap?: number;
}

export function addKeysCommand(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('issue and manage API keys');
  const zoneOf = () => readConfig(context.env).zone;

  function storageOf({ db }: KeyOptions): Storage {
    const env = db === undefined ? context.env : { ...context.env, REGISTRY_DB: db };
    return openConfiguredStorage(readConfig(env), context.clock);
  }

  /** Opens the keys for one command and answers with its outcome. */
  async function withKeys<T>(
    options: KeyOptions,
    use: 'issue' | 'manage',
    work: (store: ApiKeyStore, now: number) => Awaitable<T>,
  ): Promise<T> {
    const store = storageOf(options).openKeys(use);
    try {
      return await work(store, nowSeconds(context.clock));
    } finally {
      await store.close();
    }
  }

  function found(key: ApiKey | undefined): ApiKey {
    if (key === undefined)
      throw new CommandError(EXIT.refused, 'There is no key with this id. `keys list` shows all.');
    return key;
  }

  function stateOf(key: ApiKey): string {
    if (!key.isActive) return 'disabled';
    return hasExpired(key, nowSeconds(context.clock)) ? 'expired' : 'active';
  }

  function printKey(key: ApiKey, options: KeyOptions, secret?: string): void {
    const shown = describeKey(key, zoneOf());
    if (options.json === true) {
      const issued = secret === undefined ? {} : { key: secret, prefix: prefixOf(secret) };
      context.out(`${JSON.stringify({ ...shown, ...issued }, undefined, 2)}\n`);
      return;
    }
    const rows = [
      ['id', shown.id],
      ['name', shown.name],
      ['state', stateOf(key)],
      ['starts with', shown.prefixes.join(', ')],
      ['scopes', shown.scopes.join(', ')],
      ['addresses', shown.allowed_addresses.join(', ') || 'any'],
      ['hosts', shown.allowed_hosts.join(', ') || 'any'],
      ['requests', `${shown.per_hour} an hour, ${shown.per_day} a day`],
      ['expires', shown.expires_at ?? 'never'],
    ];
    context.out(rows.map(([label = '', value]) => `${label.padEnd(12)} ${value}\n`).join(''));
    if (secret !== undefined) {
      context.out(`\n${secret}\n`);
      context.err('This is the only time the key is shown. Keep it like a password.\n');
    }
  }

  const withTarget = (command: Command) =>
    command.option('--db <file>', 'database file the keys belong to').option('--json', 'one JSON document');

  const withRestrictions = (command: Command) =>
    withTarget(command)
      .option('--name <name>', 'who holds the key', parseName)
      .option('--scope <scope>', `what it may do, repeatable: ${SCOPES.join(', ')}`, collectScopes)
      .option('--allow-ip <block>', 'address or CIDR block it may come from, repeatable', collectAddresses)
      .option(
        '--allow-host <domain>',
        'domain it may be used for, *.example.rw too, repeatable',
        collectHosts,
      )
      .option('--per-hour <n>', `requests an hour (default ${DEFAULT_PER_HOUR})`, parseLimit)
      .option('--per-day <n>', `requests a day (default ${DEFAULT_PER_DAY})`, parseLimit)
      .option(
        '--expires <date>',
        'last day (in the time zone of the registry), or the instant it ends',
        (text) => {
          parseExpiry(text, zoneOf());
          return text;
        },
      );

  withRestrictions(keys.command('create'))
    .description('issue a key; it is printed once')
    .addHelpText(
      'after',
      '\nExample:\n  keys create --name "Union portal" --scope members:read --allow-ip 10.20.0.0/16 --per-hour 5000\n',
    )
    .action(async (options: KeyOptions) => {
      const { name, scope = [] } = options;
      if (name === undefined) throw new CommandError(EXIT.usage, 'Name the holder: --name "Union portal".');
      if (scope.length === 0) {
        throw new CommandError(EXIT.usage, `Give at least one --scope of ${SCOPES.join(', ')}.`);
      }
      const secret = issueSecret();
      const values = {
        name,
        scopes: scope,
        allowedAddresses: options.allowIp ?? [],
        allowedHosts: options.allowHost ?? [],
        limits: { perHour: options.perHour ?? DEFAULT_PER_HOUR, perDay: options.perDay ?? DEFAULT_PER_DAY },
        expiresAt: options.expires === undefined ? null : parseExpiry(options.expires, zoneOf()),
      };
      printKey(
        await withKeys(options, 'issue', (store, now) => store.create(values, secret, now)),
        options,
        secret.text,
      );
      const storage = storageOf(options);
      if (!(await storage.exists())) context.err(`There is no registry at ${storage.location} yet.\n`);
    });

  withTarget(keys.command('list'))
    .description('all keys')
    .action(async (options: KeyOptions) => {
      const all = await withKeys(options, 'manage', (store, now) => store.list(now));
      if (options.json === true) {
        context.out(
          `${JSON.stringify({ keys: all.map((key) => describeKey(key, zoneOf())) }, undefined, 2)}\n`,
        );
        return;
      }
      const rows = all.map((key) => [
        String(key.id),
        key.name,
        stateOf(key),
        key.prefixes.join(' '),
        key.scopes.join(' '),
        `${key.limits.perHour}/${key.limits.perDay}`,
      ]);
      context.out(formatTable(['ID', 'NAME', 'STATE', 'STARTS WITH', 'SCOPES', 'PER HOUR/DAY'], rows));
    });

  withTarget(keys.command('show').argument('<id>', 'id of the key', parsePositiveId))
    .description('one key with its restrictions')
    .action(async (id: number, options: KeyOptions) => {
      printKey(found(await withKeys(options, 'manage', (store, now) => store.find(id, now))), options);
    });

  withRestrictions(keys.command('update').argument('<id>', 'id of the key', parsePositiveId))
    .description('replace what is named; the rest stays')
    .option('--any-ip', 'remove the address allowlist')
    .option('--any-host', 'remove the host allowlist')
    .option('--never-expires', 'remove the end')
    .action(async (id: number, options: KeyOptions) => {
      const key = await withKeys(options, 'manage', async (store, now) => {
        const stored = found(await store.find(id, now));
        return store.update(id, toChanges(options, stored, zoneOf()), now);
      });
      printKey(found(key), options);
    });

  for (const [verb, isActive] of [
    ['disable', false],
    ['enable', true],
  ] as const) {
    withTarget(keys.command(verb).argument('<id>', 'id of the key', parsePositiveId))
      .description(`${verb} a key; holds from the next request`)
      .action(async (id: number, options: KeyOptions) => {
        printKey(
          found(await withKeys(options, 'manage', (store, now) => store.update(id, { isActive }, now))),
          options,
        );
      });
  }

  withTarget(keys.command('rotate').argument('<id>', 'id of the key', parsePositiveId))
    .description('issue a new secret for a key; its id, limits and usage stay')
    .option(
      '--overlap <time>',
      'how long the old secret stays valid: 30m, 24h, 7d (default: it ends at once)',
      parseDuration,
    )
    .action(async (id: number, options: KeyOptions) => {
      const secret = issueSecret();
      const key = await withKeys(options, 'manage', (store, now) =>
        store.rotate(id, secret, options.overlap ?? 0, now),
      );
      printKey(found(key), options, secret.text);
    });
}

function toChanges(options: KeyOptions, stored: ApiKey, zone: TimeZone) {
  const { name, scope, allowIp, allowHost, perHour, perDay, expires } = options;
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(scope === undefined ? {} : { scopes: scope }),
    ...(options.anyIp === true ? { allowedAddresses: [] } : {}),
    ...(allowIp === undefined ? {} : { allowedAddresses: allowIp }),
    ...(options.anyHost === true ? { allowedHosts: [] } : {}),
    ...(allowHost === undefined ? {} : { allowedHosts: allowHost }),
    ...(perHour === undefined && perDay === undefined
      ? {}
      : { limits: { perHour: perHour ?? stored.limits.perHour, perDay: perDay ?? stored.limits.perDay } }),
    ...(options.neverExpires === true ? { expiresAt: null } : {}),
    ...(expires === undefined ? {} : { expiresAt: parseExpiry(expires, zone) }),
  };
  if (Object.keys(changes).length === 0) {
    throw new CommandError(
      EXIT.usage,
      'Nothing to change: name at least one option, see `keys update --help`.',
    );
  }
  return changes;
}
