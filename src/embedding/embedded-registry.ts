/**
 * The public API for programs that embed the registry (docs/embedding.md). Its types must not refer to
 * libraries without types: embedding programs must compile without further packages.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { composeRegistry } from '../compose.ts';
import type { RunningServer } from '../http/server/server.ts';
import { type Config, ConfigError, type LogLevel, readConfig, type SettingName } from '../runtime/config.ts';
import { faultOfRuntime } from '../runtime/node-version.ts';
import type { Clock } from '../runtime/scheduler.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import { shownName } from '../values/errors.ts';
import { openRequests, type Request } from './in-process-request.ts';

export type { Clock } from '../runtime/scheduler.ts';
export type { Answer, Request, RequestOptions } from './in-process-request.ts';
export { ConfigError, type RunningServer, StorageError };

export interface Registry {
  /** Listener for the `request` event of node:http. In a framework, mount it before any body parser. */
  readonly handler: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Serves on the configured host and port, with limits on slow clients, and delivers webhooks. */
  listen(): Promise<RunningServer>;
  /** Sends a request without a socket, as from a client on this machine. */
  readonly request: Request;
  /**
   * Resolves with an error if a failed write leaves the state of the disk in doubt. The registry then
   * refuses writes and is not ready. Close the registry, check the disk, run `check`, and open the registry
   * again.
   */
  readonly failed: Promise<StorageError>;
  /** Reports not ready, answers received requests, then closes the files. */
  close(): Promise<void>;
}

/** Settings of docs/operating.md#settings. The comments describe defaults that differ. */
export interface RegistryOptions {
  /** Path of the database file. The file of the keys is beside the database. */
  readonly db: string;
  /** Address on which `listen()` listens. */
  readonly host?: string;
  /** Port on which `listen()` listens; any free port by default. */
  readonly port?: number;
  /** Address that clients use, for links, including any path before `/api/v1`. */
  readonly publicUrl?: string;
  /** Addresses and CIDR blocks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: readonly string[];
  /** UTC offset of the registry, such as `+02:00`. */
  readonly timeZoneOffset?: string;
  /** True to record each access to personal data before the response; false by default. */
  readonly accessLedger?: boolean;
  /** `silent` by default: the embedding program has its own log. */
  readonly logLevel?: LogLevel;
  /** Receives complete log lines; standard output by default. */
  readonly writeLog?: (lines: string) => void;
  /** System clock by default. */
  readonly clock?: Clock;
}

/**
 * Opens a registry. Changes only the files of this registry. Registries in one process share no state.
 * @throws ConfigError with all invalid options; StorageError if a file cannot be used
 */
export function openRegistry(options: RegistryOptions): Registry {
  const fault = faultOfRuntime(process.versions.node);
  if (fault !== undefined) throw new ConfigError([fault]);
  const config = toConfig(options);
  const { clock, writeLog } = options;
  const { handler, listen, connect, failed, close } = composeRegistry({ config, clock, writeLog });
  return { handler, listen, request: openRequests(connect), failed, close };
}

/** @throws ConfigError with all errors of types and values */
function toConfig(options: RegistryOptions): Config {
  const faults = findFaults(options);
  const { clock } = options ?? {};
  if (clock && [clock.now, clock.monotonicMs].some((read) => typeof read !== 'function'))
    faults.set('clock', 'Expected an object with the functions now() and monotonicMs().');
  const isSound = ([name]: [string, unknown]) => !faults.has(name);
  const sound: Partial<RegistryOptions> = Object.fromEntries(Object.entries(options ?? {}).filter(isSound));
  const all = [...faults].map(([name, fault]) => `${name}: ${fault}`);
  try {
    const config = readConfig({
      REGISTRY_DB: sound.db,
      HOST: sound.host,
      PORT: String(sound.port ?? 0),
      PUBLIC_URL: sound.publicUrl,
      TRUSTED_PROXIES: sound.trustedProxies?.join(','),
      TIME_ZONE_OFFSET: sound.timeZoneOffset,
      // Only the command `serve` serves metrics.
      METRICS: undefined,
      ACCESS_LEDGER: sound.accessLedger === true ? 'on' : 'off',
      // An embedding program cannot set the days, and gets the default.
      ACCESS_LEDGER_DAYS: undefined,
      LOG_LEVEL: sound.logLevel ?? 'silent',
      // Only commands and the desk use names of users.
      REGISTRY_USER: undefined,
      // Only the desk shows the name of the registry.
      REGISTRY_NAME: undefined,
    } satisfies { [name in SettingName]: string | undefined });
    if (all.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Replaces the name of a setting, `PORT: …`, by the name of the option, `port: …`.
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

/** Returns a message for each wrong option, for callers in JavaScript. */
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
    // An empty setting means the default, but an empty option is an error: `db: ''` would open the
    // default database of `serve`.
    else if (typeof value === 'string' && value.trim() === '') faults.set(name, 'It is empty.');
  }
  return faults;
}
