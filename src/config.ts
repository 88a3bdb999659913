/** The environment → one frozen configuration; every wrong setting is reported at once. */

import { type AddressBlocks, parseAddressBlocks } from './domain/address-blocks.ts';
import { KIGALI, parseTimeZone, type TimeZone } from './domain/date-time.ts';
import { FieldError } from './domain/errors.ts';

export const LOG_LEVELS = ['silent', 'error', 'info'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Every setting, as `--help` and the documents name it. */
export const SETTINGS = {
  REGISTRY_DB: 'database file; the keys lie beside it (default data/registry.db)',
  HOST: 'address to listen on (default 127.0.0.1)',
  PORT: 'port to listen on, 0 for any free one (default 8080)',
  PUBLIC_URL: 'scheme and host that clients use, for the links in lists (default: those of each request)',
  TRUSTED_PROXIES: 'addresses and CIDR blocks whose X-Forwarded-For is believed (default none)',
  TIME_ZONE_OFFSET: "the registry's time zone (default +02:00)",
  LOG_LEVEL: `${LOG_LEVELS.join(', ')}; info logs every request (default info)`,
} as const;
export type Setting = keyof typeof SETTINGS;

export interface Config {
  /** Where the registry is kept: today the path of a database file. */
  readonly storage: string;
  readonly host: string;
  readonly port: number;
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly trustedProxies: AddressBlocks;
  readonly zone: TimeZone;
  readonly logLevel: LogLevel;
}

export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

export const NO_PROXIES = parseAddressBlocks([]) as AddressBlocks;

/**
 * @param env the settings; an empty one counts as not given
 * @throws ConfigError with every fault
 */
export function readConfig(env: { readonly [name in Setting]?: string | undefined }): Config {
  const faults: string[] = [];
  function read<T>(name: Setting, fallback: T, parse: (text: string) => T | FieldError): T {
    const text = env[name]?.trim() ?? '';
    if (text === '') return fallback;
    const value = parse(text);
    if (!(value instanceof FieldError)) return value;
    faults.push(`${name}: ${value.message}`);
    return fallback;
  }
  const config: Config = {
    storage: read('REGISTRY_DB', 'data/registry.db', (text) => text),
    host: read('HOST', '127.0.0.1', (text) => text),
    port: read('PORT', 8080, parsePort),
    publicUrl: read<string | undefined>('PUBLIC_URL', undefined, parsePublicUrl),
    trustedProxies: read('TRUSTED_PROXIES', NO_PROXIES, (text) => parseAddressBlocks(text.split(','))),
    zone: read('TIME_ZONE_OFFSET', KIGALI, parseTimeZone),
    logLevel: read<LogLevel>('LOG_LEVEL', 'info', parseLogLevel),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

function parsePort(text: string): number | FieldError {
  return /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535
    ? Number(text)
    : new FieldError('Expected a port from 0 to 65535.');
}

function parsePublicUrl(text: string): string | FieldError {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare =
    url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && !/[?#@]/.test(text);
  return isBare
    ? url.origin
    : new FieldError('Expected a scheme and host such as https://registry.example.rw.');
}

function parseLogLevel(text: string): LogLevel | FieldError {
  const level = LOG_LEVELS.find((known) => known === text);
  return level ?? new FieldError(`Expected one of ${LOG_LEVELS.join(', ')}.`);
}
