/** Reads the settings into a frozen configuration, and reports all invalid settings together. */

import { parseAddressBlocks } from '../values/address-blocks.ts';
import { parseTimeZone } from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { parseUserName } from '../values/text.ts';

const LOG_LEVELS = ['silent', 'error', 'info'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Declaration of a setting, from which `--help`, the options of commands and the documents are generated. */
export interface Setting {
  /** Text of the default value. With `hasNoDefault`, a description of what happens without the setting. */
  readonly default: string;
  readonly hasNoDefault?: true;
  /** One sentence without a full stop. Names and values are in backquotes. */
  readonly help: string;
  /** Flags of the command-line option that overrides the setting. */
  readonly option?: string;
  /** True if error messages must not contain the value. */
  readonly isPersonal?: true;
  /** @param text trimmed text; empty for a missing setting without a default */
  readonly parse: (text: string) => unknown;
}

export const SETTINGS = {
  REGISTRY_DB: {
    default: 'data/registry.db',
    help: 'database file; the keys are stored beside it, in a file of their own',
    option: '--db <file>',
    parse: (text: string) => text,
  },
  HOST: {
    default: '127.0.0.1',
    help: 'address to listen on; `0.0.0.0` or `::` for every address of the machine',
    option: '--host <address>',
    parse: (text: string) => text,
  },
  PORT: {
    default: '8080',
    help: 'port to listen on, 0 to 65535; 0 for any free port, which `serve` prints',
    option: '--port <n>',
    parse: parsePort,
  },
  PUBLIC_URL: {
    default: 'the address in each request',
    hasNoDefault: true,
    help: 'address for clients and links, such as `https://registry.example.rw`; it may have a path',
    parse: parsePublicUrl,
  },
  TRUSTED_PROXIES: {
    default: 'none',
    hasNoDefault: true,
    help: 'addresses and CIDR blocks, separated by commas, whose `X-Forwarded-For` is trusted',
    parse: (text: string) => parseAddressBlocks(text.split(',')),
  },
  METRICS: {
    default: 'off',
    hasNoDefault: true,
    help: 'address and port on which `/metrics` is served to Prometheus, such as `127.0.0.1:9108`',
    parse: parseSocketAddress,
  },
  TIME_ZONE_OFFSET: {
    default: "the registry's offset; +02:00 for a new registry",
    hasNoDefault: true,
    help: 'UTC offset, such as `-03:30` or `Z`, for output, and for input without an offset',
    parse: (text: string) => (text === '' ? undefined : parseTimeZone(text)),
  },
  REGISTRY_USER: {
    default: "the system's user",
    hasNoDefault: true,
    help: "name of the person who runs commands, recorded beside the system's user",
    option: '--as <name>',
    isPersonal: true,
    parse: (text: string) => (text === '' ? undefined : parseUserName(text)),
  },
  REGISTRY_NAME: {
    default: 'none',
    hasNoDefault: true,
    help: 'name of the registry, such as `Union of Huye`, shown on each desk page and in the page title',
    parse: parseRegistryName,
  },
  ACCESS_LEDGER: {
    default: 'on',
    help: '`on` records each access to personal data before the response, `off` records none',
    parse: parseSwitch,
  },
  ACCESS_LEDGER_DAYS: {
    default: '730',
    help: 'minimum number of days to keep access records (1 to 36500); older files are removed once a day',
    parse: parseDays,
  },
  LOG_LEVEL: {
    default: 'info',
    help: '`info` logs every request, `error` only errors of the server, `silent` nothing',
    parse: parseLogLevel,
  },
} as const satisfies { readonly [name: string]: Setting };
export type SettingName = keyof typeof SETTINGS;
type SettingValue<Name extends SettingName> = Exclude<
  ReturnType<(typeof SETTINGS)[Name]['parse']>,
  FieldError
>;

/** Texts of settings by name. An empty text counts as missing. */
type SettingTexts = { readonly [name in SettingName]?: string | undefined };

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

export type Config = ReturnType<typeof readConfig>;

/** Returns the location for `--db` in a typed command; undefined for the default location. */
export const namedRegistry = ({ storage }: Pick<Config, 'storage'>): string | undefined =>
  storage === SETTINGS.REGISTRY_DB.default ? undefined : storage;

export interface PublicUrl {
  /** Scheme and host, such as `https://host`. */
  readonly origin: string;
  /** Prefix of route paths, such as `/registry`; empty for none. */
  readonly prefix: string;
}

export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** @throws ConfigError with a line for each invalid setting */
export function readConfig(texts: SettingTexts) {
  const faults: string[] = [];
  function read<Name extends SettingName>(name: Name): SettingValue<Name> {
    const setting: Setting = SETTINGS[name];
    const text = texts[name]?.trim() || (setting.hasNoDefault === true ? '' : setting.default);
    const value = setting.parse(text);
    if (value instanceof FieldError) faults.push(`${name}: ${value.message}`);
    // `readConfig` never returns a FieldError: it throws if there are faults.
    return value as SettingValue<Name>;
  }
  const config = {
    /** Path of the database file. */
    storage: read('REGISTRY_DB'),
    host: read('HOST'),
    port: read('PORT'),
    publicUrl: read('PUBLIC_URL'),
    trustedProxies: read('TRUSTED_PROXIES'),
    metrics: read('METRICS'),
    /** Undefined for the zone of the registry. */
    timeZone: read('TIME_ZONE_OFFSET'),
    /** Name of the person who runs a command. */
    operator: read('REGISTRY_USER'),
    registryName: read('REGISTRY_NAME'),
    accessLedger: read('ACCESS_LEDGER'),
    accessLedgerDays: read('ACCESS_LEDGER_DAYS'),
    logLevel: read('LOG_LEVEL'),
  };
  // The ports must differ even on different addresses. Two addresses may overlap: `0.0.0.0` includes all
  // other addresses, and a name may stand for any address.
  if (config.metrics?.port === config.port && config.port !== 0)
    faults.push('METRICS: Expected another port than that of PORT.');
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

export function parsePort(text: string): number | FieldError {
  return /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535
    ? Number(text)
    : new FieldError('Expected a port from 0 to 65535.');
}

function parseSwitch(text: string): boolean | FieldError {
  return text === 'on' || text === 'off' ? text === 'on' : new FieldError('Expected on or off.');
}

/** Maximum length of the registry's name, which has to fit beside the title in a browser tab. */
const MAX_NAME_CHARACTERS = 60;

/** Browsers store titles of pages, so the name must not contain a national ID. */
function parseRegistryName(text: string): string | undefined | FieldError {
  if (text === '') return undefined;
  const isSound = [...text].length <= MAX_NAME_CHARACTERS && !/\p{C}|[0-9]{13}/u.test(text);
  return isSound ? text : new FieldError(`Expected a name of at most ${MAX_NAME_CHARACTERS} characters.`);
}

function parseDays(text: string): number | FieldError {
  const days = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  return days >= 1 && days <= 36_500 ? days : new FieldError('Expected a number of days from 1 to 36500.');
}

/** As in a URL, an IPv6 address has brackets. */
function parseSocketAddress(text: string): SocketAddress | undefined | FieldError {
  if (text === '') return undefined;
  const [, host = '', port = ''] = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})$/.exec(text) ?? [];
  return host !== '' && Number(port) <= 65_535
    ? { host: host.replace(/[[\]]/g, ''), port: Number(port) }
    : new FieldError('Expected an address and a port such as 127.0.0.1:9108.');
}

/** Prefix of route paths, made of segments that no program encodes or resolves. */
export const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.~-]+)+$/;

function parsePublicUrl(text: string): PublicUrl | undefined | FieldError {
  if (text === '') return undefined;
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?#@]+)(.*?)\/*$/i.exec(text) ?? [];
  if (/^\/api\/v1(?:\/|$)/.test(path) || path.endsWith('/api/v1'))
    return new FieldError('Leave out /api/v1: every path of the API has it already.');
  if (URL.canParse(origin) && (path === '' || PREFIX.test(path)))
    return { origin: new URL(origin).origin, prefix: path };
  const example = 'https://registry.example.rw or https://example.rw/registry';
  return new FieldError(`Expected a scheme, a host and perhaps a path, such as ${example}.`);
}

function parseLogLevel(text: string): LogLevel | FieldError {
  const level = LOG_LEVELS.find((known) => known === text);
  return level ?? new FieldError(`Expected one of ${LOG_LEVELS.join(', ')}.`);
}
