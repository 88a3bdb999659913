/**
 * The list of what a release consists of, in CycloneDX: the libraries as npm lists them, and what a scanner
 * cannot see from a lock file, Node with what it bundles and the SQLite in the database driver. Two builds of
 * one commit make the same list.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly 'bom-ref': string;
  readonly type: 'library' | 'platform';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly cpe?: string | undefined;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

export interface Sbom {
  readonly metadata: {
    readonly timestamp: string;
    readonly component: {
      readonly 'bom-ref': string;
      readonly name: string;
      readonly version: string;
      readonly purl: string;
    };
    /** Of `npm sbom`: the npm of the machine, whose version would make another list of the same release. */
    readonly tools?: unknown;
  };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * Vendor and product of what Node bundles in the dictionary of CPE names (NIST IR 7696), by its name in
 * `process.versions`. What is not listed here has no advisories under a name of its own.
 */
const CPE_NAMES: Readonly<Record<string, string>> = {
  acorn: 'acornjs:acorn',
  ares: 'c-ares:c-ares',
  brotli: 'google:brotli',
  icu: 'unicode:international_components_for_unicode',
  llhttp: 'llhttp:llhttp',
  nghttp2: 'nghttp2:nghttp2',
  nghttp3: 'nghttp2:nghttp3',
  ngtcp2: 'ngtcp2:ngtcp2',
  openssl: 'openssl:openssl',
  sqlite: 'sqlite:sqlite',
  undici: 'nodejs:undici',
  uv: 'libuv:libuv',
  v8: 'google:v8',
  zlib: 'zlib:zlib',
  zstd: 'facebook:zstandard',
};
/** What Node bundles of npm's packages: scanners find their advisories by this kind of purl. */
const NPM_PACKAGES = new Set(['acorn', 'amaro', 'undici']);
/** Names in `process.versions` that are numbers of an interface or of data, not of a program. */
const NOT_PROGRAMS = new Set(['node', 'modules', 'napi', 'unicode', 'cldr', 'tz']);

function component(name: string, version: string, cpeName: string | undefined, part: string): Component {
  // A version such as 1.3.2.1-motley-8002e91 is that of a copy: advisories name its beginning.
  const released = /^\d+(?:\.\d+)*/.exec(version)?.[0] ?? version;
  return {
    'bom-ref': `${part}/${name}@${version}`,
    type: part === 'node' && name === 'node' ? 'platform' : 'library',
    name,
    version,
    purl: `pkg:${NPM_PACKAGES.has(name) ? 'npm' : 'generic'}/${name}@${encodeURIComponent(version)}`,
    cpe: cpeName === undefined ? undefined : `cpe:2.3:a:${cpeName}:${released}:*:*:*:*:*:*:*`,
    properties: [{ name: 'bundled-in', value: part }],
  };
}

/**
 * @param listed by `npm sbom`
 * @param product name and version of what is released
 * @param versions `process.versions` of the Node in the archive
 * @param sqlite version of the SQLite in the database driver
 * @param committedAt time of the commit, ISO 8601
 */
export function composeSbom(
  listed: Sbom & { readonly serialNumber?: string },
  product: { readonly name: string; readonly version: string },
  versions: Readonly<Record<string, string>>,
  sqlite: string,
  committedAt: string,
): Sbom {
  const { serialNumber: _random, ...kept } = listed;
  const node = component('node', versions.node as string, 'nodejs:node.js', 'node');
  const bundled = Object.entries(versions)
    .filter(([name, version]) => !NOT_PROGRAMS.has(name) && version !== '')
    .map(([name, version]) => component(name, version, CPE_NAMES[name], 'node'));
  const { tools: _npm, ...metadata } = listed.metadata;
  const database = component('sqlite', sqlite, CPE_NAMES.sqlite, 'better-sqlite3');
  return {
    ...kept,
    metadata: {
      ...metadata,
      timestamp: committedAt,
      component: { ...listed.metadata.component, ...product },
    },
    components: [...listed.components, node, ...bundled, database],
    dependencies: [
      ...listed.dependencies.map(({ ref, dependsOn }) => ({
        ref,
        dependsOn: [
          ...dependsOn,
          ...(ref === metadata.component['bom-ref'] ? [node['bom-ref']] : []),
          ...(ref.startsWith('better-sqlite3@') ? [database['bom-ref']] : []),
        ],
      })),
      { ref: node['bom-ref'], dependsOn: bundled.map((each) => each['bom-ref']) },
      { ref: database['bom-ref'], dependsOn: [] },
    ],
  };
}

/** @param folder the unpacked archive, with its libraries and its Node */
export function sbomOf(folder: string, committedAt: string): string {
  const node = join(folder, 'node_modules', '.bin', 'node');
  const ask = (code: string): string =>
    execFileSync(node, ['-p', code], { cwd: folder, encoding: 'utf8' }).trim();
  const listed = execFileSync(
    'npm',
    ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const versions = JSON.parse(ask('JSON.stringify(process.versions)'));
  const sqlite = ask(
    "new (require('better-sqlite3'))(':memory:').prepare('SELECT sqlite_version()').pluck().get()",
  );
  const sbom = composeSbom(JSON.parse(listed), { name, version }, versions, sqlite, committedAt);
  return `${JSON.stringify(sbom, null, 2)}\n`;
}
