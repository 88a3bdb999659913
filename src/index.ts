/** The public API for programs that embed the registry (docs/embedding.md). */

import { composeRegistry, type Registry } from './app/compose.ts';
import { findOptionFaults, type OptionTypes } from './app/embedding/arguments.ts';
import { timeZoneOf } from './app/storage.ts';
import { type Config, ConfigError, type LogLevel, readConfig, type SettingName } from './config.ts';
import type { Clock } from './runtime/clock.ts';
import { faultOfRuntime } from './runtime/node-version.ts';

export type { Registry } from './app/compose.ts';
export type { Id } from './app/embedding/arguments.ts';
export type {
  CorrectionResult,
  EmbeddedCorrectionOptions,
  EmbeddedCorrections,
  EmbeddedReplacementOptions,
  EmbeddedTransfer,
} from './app/embedding/corrections.ts';
export type { KeyChanges, NewKey } from './app/embedding/key-changes.ts';
export type { ChangedKey, EmbeddedKeys, IssuedKey, KeyObject } from './app/embedding/keys.ts';
export type * from './app/embedding/objects.ts';
export type { EmbeddedReads, Filters, FinancialsOption, ReadOptions, Rows } from './app/embedding/reads.ts';
export { RegistryError } from './domain/values/errors.ts';
export type { RunningServer } from './http/server/server.ts';
export type { Clock } from './runtime/clock.ts';
export type { UndoResult } from './store/contract/journal/operations.ts';
export { StorageError } from './store/contract/storage-error.ts';
export { ConfigError };

/** The settings of docs/operating.md#settings, with their defaults unless another one is named here. */
export interface RegistryOptions {
  /** Database file; the keys are stored beside it. Never empty. */
  readonly db: string;
  /** Address on which `listen()` listens. */
  readonly host?: string;
  /** Port on which `listen()` listens; any free one by default. */
  readonly port?: number;
  /** Address that clients use, for links; under a path, the one before `/api/v1`. */
  readonly publicUrl?: string;
  /** Addresses and CIDR blocks whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[];
  /** Time zone of the registry, such as `+02:00`. */
  readonly timeZoneOffset?: string;
  /** Whether each reading of personal data is recorded before it is answered; it is not by default. */
  readonly accessLedger?: boolean;
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
  const { embedded, handler, failed, listen, close } = composeRegistry({ config, clock, writeLog });
  return { ...embedded, handler, failed, listen, close };
}

/** @throws ConfigError with the faults of types and of values together */
function toConfig(options: RegistryOptions): Config {
  const faults = findOptionFaults(options, OPTION_TYPES);
  const { clock } = options ?? {};
  if (clock && [clock.now, clock.monotonicMs].some((read) => typeof read !== 'function'))
    faults.set('clock', 'Expected an object with the functions now() and monotonicMs().');
  const isSound = ([name]: [string, unknown]) => !faults.has(name);
  const sound: Partial<RegistryOptions> = Object.fromEntries(Object.entries(options ?? {}).filter(isSound));
  const all = [...faults].map(([name, fault]) => `${name}: ${fault}`);
  try {
    const config = readConfig(
      {
        REGISTRY_DB: sound.db,
        HOST: sound.host,
        PORT: String(sound.port ?? 0),
        PUBLIC_URL: sound.publicUrl,
        TRUSTED_PROXIES: sound.trustedProxies?.join(','),
        TIME_ZONE_OFFSET: sound.timeZoneOffset,
        // Only the command serves metrics.
        METRICS: undefined,
        ACCESS_LEDGER: sound.accessLedger === true ? 'on' : 'off',
        ACCESS_LEDGER_DAYS: undefined,
        LOG_LEVEL: sound.logLevel ?? 'silent',
        // An embedding program names the person with each correction.
        REGISTRY_USER: undefined,
        // Only the desk shows it.
        REGISTRY_NAME: undefined,
      } satisfies { [name in SettingName]: string | undefined },
      timeZoneOf,
    );
    if (all.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // `PORT: …` is a fault of the option `port`.
    const toOption = (name: string) =>
      name.toLowerCase().replace(/_./g, ([, next = '']) => next.toUpperCase());
    all.push(...error.faults.map((each) => each.replace(/^[A-Z_]+(?=:)/, toOption)));
  }
  throw new ConfigError(all);
}

const OPTION_TYPES = {
  db: 'string!',
  host: 'string',
  port: 'number',
  publicUrl: 'string',
  trustedProxies: 'array',
  timeZoneOffset: 'string',
  accessLedger: 'boolean',
  logLevel: 'string',
  writeLog: 'function',
  clock: 'object',
} as const satisfies { readonly [name in keyof Required<RegistryOptions>]: OptionTypes[string] };
