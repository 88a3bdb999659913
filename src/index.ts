/** The public API for programs that embed the registry (README.md#embed-it). */

import type { Clock } from './clock.ts';
import { type Config, ConfigError, type LogLevel, readConfig, type SettingName } from './config.ts';
import { faultOfRuntime } from './node-version.ts';
import { composeRegistry, type Registry } from './registry.ts';

export type { Clock } from './clock.ts';
export type { RunningServer } from './http/server.ts';
export type { Registry } from './registry.ts';
export { StorageError } from './store/ports/storage-error.ts';
export { ConfigError };

/** The settings of docs/operating.md#settings, with their defaults unless another one is named here. */
export interface RegistryOptions {
  /** Database file; the keys are stored beside it. Never empty. */
  readonly db: string;
  /** Address on which `listen()` listens. */
  readonly host?: string;
  /** Port on which `listen()` listens; any free one by default. */
  readonly port?: number;
  /** Scheme and host that clients use, for the links in lists. */
  readonly publicUrl?: string;
  /** Addresses and CIDR blocks whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[];
  /** Time zone of the registry, such as `+02:00`. */
  readonly timeZoneOffset?: string;
  /** `silent` by default: an embedding program has a log of its own. */
  readonly logLevel?: LogLevel;
  /** Receives complete log lines; they go to standard output by default. */
  readonly writeLog?: (lines: string) => void;
  /** The machine's time by default. */
  readonly clock?: Clock;
}

/**
 * Opens a registry. It has no side effect except on the database's files, and registries in one process share
 * nothing.
 * @throws ConfigError with all invalid options; StorageError when a file cannot be used
 */
export function openRegistry(options: RegistryOptions): Registry {
  const fault = faultOfRuntime(process.versions.node);
  if (fault !== undefined) throw new ConfigError([fault]);
  const config = toConfig(options);
  const { clock, writeLog } = options;
  const { handler, failed, listen, close } = composeRegistry({
    config,
    ...(clock === undefined ? {} : { clock }),
    ...(writeLog === undefined ? {} : { writeLog }),
  });
  return { handler, failed, listen, close };
}

function toConfig(options: RegistryOptions): Config {
  const faults = findOptionFaults(options);
  if (faults.length > 0) throw new ConfigError(faults);
  return readConfig({
    REGISTRY_DB: options.db,
    HOST: options.host,
    PORT: String(options.port ?? 0),
    PUBLIC_URL: options.publicUrl,
    TRUSTED_PROXIES: options.trustedProxies?.join(','),
    TIME_ZONE_OFFSET: options.timeZoneOffset,
    LOG_LEVEL: options.logLevel ?? 'silent',
  } satisfies { [name in SettingName]: string | undefined });
}

const OPTION_TYPES: { readonly [name in keyof Required<RegistryOptions>]: string } = {
  db: 'string',
  host: 'string',
  port: 'number',
  publicUrl: 'string',
  trustedProxies: 'array',
  timeZoneOffset: 'string',
  logLevel: 'string',
  writeLog: 'function',
  clock: 'object',
};

/** What types would have caught: a program in JavaScript has none. */
function findOptionFaults(options: RegistryOptions | undefined): string[] {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  const faults = given.flatMap(([name, value]) => {
    const type = (OPTION_TYPES as { [name: string]: string })[name];
    if (type === undefined) return [`${name}: There is no such option.`];
    if (type === 'array' ? !Array.isArray(value) : typeof value !== type)
      return [`${name}: Expected a value of type ${type}.`];
    // An empty setting means its default, but an empty option is a mistake: `db: ''` would open the
    // database of `serve`.
    return typeof value === 'string' && value.trim() === '' ? [`${name}: It is empty.`] : [];
  });
  return given.some(([name]) => name === 'db') ? faults : ['db: It is required.', ...faults];
}
