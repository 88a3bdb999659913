/** The embeddable face of the registry. */

import type { Clock } from './clock.ts';
import { type Config, ConfigError, type LogLevel, readConfig, type Setting } from './config.ts';
import { faultOfRuntime } from './node-version.ts';
import { composeRegistry, type Registry } from './registry.ts';

export type { Clock } from './clock.ts';
export type { RunningServer } from './http/server.ts';
export type { Registry } from './registry.ts';
export { StorageError } from './store/ports.ts';
export { ConfigError };

export interface RegistryOptions {
  /** Database file; the keys lie beside it. */
  readonly db: string;
  /** Address and port of `listen()`; 127.0.0.1 and any free port when not given. */
  readonly host?: string;
  readonly port?: number;
  /** Scheme and host that clients use, for the links in lists. */
  readonly publicUrl?: string;
  /** Addresses and CIDR blocks whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[];
  /** The registry's time zone, `+02:00` when not given. */
  readonly timeZoneOffset?: string;
  /** `silent` when not given: an embedding program has a log of its own. */
  readonly logLevel?: LogLevel;
  /** Takes whole log lines. */
  readonly writeLog?: (lines: string) => void;
  readonly clock?: Clock;
}

/**
 * Opens a registry. There is no side effect but the database's, and two registries can live in one process.
 * @throws ConfigError with every wrong option; StorageError when a file cannot be used
 */
export function openRegistry(options: RegistryOptions): Registry {
  const fault = faultOfRuntime(process.versions.node);
  if (fault !== undefined) throw new ConfigError([fault]);
  const { clock, writeLog } = options;
  const { handler, failed, listen, close } = composeRegistry({
    config: toConfig(options),
    ...(clock === undefined ? {} : { clock }),
    ...(writeLog === undefined ? {} : { writeLog }),
  });
  return { handler, failed, listen, close };
}

function toConfig(options: RegistryOptions): Config {
  return readConfig({
    REGISTRY_DB: options.db,
    HOST: options.host,
    PORT: String(options.port ?? 0),
    PUBLIC_URL: options.publicUrl,
    TRUSTED_PROXIES: options.trustedProxies?.join(','),
    TIME_ZONE_OFFSET: options.timeZoneOffset,
    LOG_LEVEL: options.logLevel ?? 'silent',
  } satisfies { [name in Setting]: string | undefined });
}
