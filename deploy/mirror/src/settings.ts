/** The settings, from the environment; every fault is reported at once. */

export interface Settings {
  /** Of the registry's API, without a slash at the end. */
  readonly api: string;
  readonly key: string;
  readonly databaseUrl: string;
  /** A kind of which at least so many rows have changed is loaded again from an export. */
  readonly reloadRows: number;
}

const ADDRESS = 'Expected the address of the registry, such as https://registry.example.rw.';
const DATABASE = 'Expected an address such as postgresql://mirror@db.example.rw/registry.';

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return `${url.username}${url.password}${url.search}${url.hash}` === '';
}

const isDatabase = (text: string): boolean =>
  ['postgres:', 'postgresql:'].includes(URL.parse(text)?.protocol ?? '');

/** @returns the faults, one a line, without the values: two of them are secrets */
export function readSettings(env: NodeJS.ProcessEnv): Settings | { readonly faults: readonly string[] } {
  const faults: string[] = [];
  const read = (name: string, isValid: (text: string) => boolean, expected: string): string => {
    const text = env[name]?.trim() ?? '';
    if (!isValid(text)) faults.push(`${name}: ${text === '' ? 'It is not set. ' : ''}${expected}`);
    return text;
  };
  const address = read('REGISTRY_URL', isAddress, ADDRESS);
  const key = read(
    'REGISTRY_KEY',
    (text) => /^crs_\w+$/.test(text),
    'Expected a key, which begins with crs_.',
  );
  const databaseUrl = read('DATABASE_URL', isDatabase, DATABASE);
  const rows = (env.RELOAD_ROWS ?? '') === '' ? '2000' : env.RELOAD_ROWS?.trim();
  if (!/^[1-9][0-9]{0,8}$/.test(rows ?? '')) faults.push('RELOAD_ROWS: Expected a whole number from 1.');
  if (faults.length > 0) return { faults };
  return { api: `${address.replace(/\/+$/, '')}/api/v1`, key, databaseUrl, reloadRows: Number(rows) };
}
