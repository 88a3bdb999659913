/**
 * The API for programs that embed the registry (docs/embedding.md). No type refers to a library without
 * types, so that such programs compile without further packages.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { composeRegistry } from '../compose.ts';
import { type Config, ConfigError, type LogLevel, readConfig, type SettingName } from '../runtime/config.ts';
import { faultOfRuntime } from '../runtime/node-version.ts';
import type { Clock } from '../runtime/scheduler.ts';
import { timeZoneOf } from '../sqlite/registry-facts.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import { shownName } from '../values/errors.ts';
import { openRequests, type Request } from './in-process-request.ts';

export type { Clock } from '../runtime/scheduler.ts';
export type { Answer, Request, RequestOptions } from './in-process-request.ts';
export { ConfigError, StorageError };

/** A registry that listens. The server's own type would lead to those of the database driver. */
export interface RunningServer {
  readonly address: AddressInfo;
  /** Ends in order: no new connections, every request received is answered. Resolves when all are closed. */
  close(): Promise<void>;
}

export interface Registry {
  /**
   * A listener for node:http's `request` event; also mountable in other frameworks, before any body parser.
   */
  readonly handler: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Serves on the configured host and port, with limits on slow clients, and delivers webhooks. */
  listen(): Promise<RunningServer>;
  /** Answers a request as if a client on this machine had sent it, but without a socket. */
  readonly request: Request;
  /**
   * Resolves when writing has failed in a way that leaves the disk in doubt, with the error to report.
   * The registry takes no writes then and is not ready: close it, look at the disk, run `check`, and open it
   * again.
   */
  readonly failed: Promise<StorageError>;
  /** Ends in order: refuses readiness, answers what was received, then closes the files. */
  close(): Promise<void>;
}

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
  /** Addresses and CIDR blocks whose X-Forwarded-For is trusted. */
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
  const { handler, listen, connect, failed, close } = composeRegistry({ config, clock, writeLog });
  return { handler, listen, request: openRequests(connect), failed, close };
}

/** @throws ConfigError with the faults of types and of values together */
function toConfig(options: RegistryOptions): Config {
  const faults = findFaults(options);
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
        // Only commands and the desk change anything under a name.
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

const OPTION_TYPES: { readonly [name in keyof Required<RegistryOptions>]: string } = {
  db: 'string',
  host: 'string',
  port: 'number',
  publicUrl: 'string',
  trustedProxies: 'array',
  timeZoneOffset: 'string',
  accessLedger: 'boolean',
  logLevel: 'string',
  writeLog: 'function',
  clock: 'object',
};

/** Faults in the types of options, by name: a program in JavaScript has no types. */
function findFaults(options: unknown): Map<string, string> {
  const faults = new Map<string, string>();
  if (options !== undefined && (typeof options !== 'object' || options === null || Array.isArray(options)))
    return faults.set('options', 'Expected an object.');
  const values = new Map(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
  if (!values.has('db')) faults.set('db', 'It is required.');
  const types = new Map(Object.entries(OPTION_TYPES));
  for (const [name, value] of values) {
    const type = types.get(name);
    if (type === undefined) faults.set(shownName(name), 'There is no such option.');
    else if (type === 'array' ? !Array.isArray(value) : typeof value !== type || value === null)
      faults.set(name, `Expected a value of type ${type}.`);
    // An empty setting means its default, but an empty option is a mistake: `db: ''` would open the
    // database of `serve`.
    else if (typeof value === 'string' && value.trim() === '') faults.set(name, 'It is empty.');
  }
  return faults;
}
