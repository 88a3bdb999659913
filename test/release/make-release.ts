/**
 * Makes what a release consists of, in release/: `make release` (docs/decisions/0033-release.md). The package
 * is built twice, from two clean copies of the commit, and must be the same to the byte; the archive for
 * servers brings its libraries and its Node, and is tried before anything is said.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultsOfRelease, type ReleaseTexts } from './release-faults.ts';
import { sbomOf } from './sbom.ts';
import { tryArchive } from './try-archive.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RELEASE = join(ROOT, 'release');
const isTrial = process.argv.includes('--untested');
const { name, version, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const NODE = devDependencies.node as string;
const TITLE = `${name}-${version}`;
/** What a server needs of the commit: neither tests nor benchmarks. */
const SERVED = [
  ...['package.json', 'package-lock.json', 'openapi.json', 'import-map.schema.json', 'src', 'data/seed'],
  ...['docs', 'deploy', 'LICENSE', 'README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'SECURITY.md'],
];
/** Sources and other systems' binaries of the database driver: its own binary is all that is loaded. */
const UNUSED = ['better-sqlite3/deps', 'better-sqlite3/src', 'better-sqlite3/binding.gyp'];
const PREBUILT = /^linux-(x64|arm64)\.node$/;

interface Step {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

const run = (
  program: string,
  args: readonly string[],
  { cwd = ROOT, env = process.env }: Step = {},
): string =>
  execFileSync(program, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** A reason why nothing is released, in words for whoever asked for it. */
class Refusal extends Error {}

function refuse(reason: string): never {
  throw new Refusal(reason);
}

/** A copy of the commit, without what is beside it in the folder. */
function checkOut(folder: string, paths: readonly string[] = []): string {
  mkdirSync(folder, { recursive: true });
  const archive = `${folder}.tar`;
  run('git', ['archive', '-o', archive, 'HEAD', ...paths]);
  run('tar', ['-xf', archive, '-C', folder]);
  rmSync(archive);
  return folder;
}

/** @returns the package, built from a copy of its own */
function pack(folder: string): string {
  checkOut(folder);
  cpSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  run('npm', ['run', '-s', 'build'], { cwd: folder });
  run('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: folder });
  return join(folder, `${TITLE}.tgz`);
}

/** The packages that are installed with the program, the program itself left out. */
const installedIn = (folder: string): string[] =>
  run('npm', ['ls', '--omit=dev', '--all', '--parseable', '--offline'], { cwd: folder })
    .trim()
    .split('\n')
    .slice(1);

/** Node's licence is in the package with its program, inside the package that chooses it. */
const nodePackageIn = (folder: string): string =>
  join(folder, 'node_modules', 'node', 'node_modules', `node-linux-${process.arch}`);

/** Every licence of what is installed, in full. */
function licencesOf(folder: string): string {
  const packages = [...installedIn(folder), nodePackageIn(folder)];
  return [...new Set(packages)]
    .map((path) => {
      const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
      const file = readdirSync(path).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
      const text =
        file === undefined
          ? 'The package has no file with its text.'
          : readFileSync(join(path, file), 'utf8');
      return `${name} ${version}: ${license ?? 'see below'}\n\n${text.trim()}\n`;
    })
    .join(`\n${'='.repeat(80)}\n\n`);
}

/**
 * @param out where the archive is written
 * @returns the archive for servers: everything that runs, owned by root when root unpacks it
 */
function archiveOf(folder: string, out: string): string {
  const at = join(folder, TITLE);
  checkOut(at, SERVED);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['ci', '--ignore-scripts', '--omit=dev', ...quiet], { cwd: at });
  run('npm', ['install', '--no-save', '--save-prod', '--omit=dev', ...quiet, `node@${NODE}`], { cwd: at });
  const modules = join(at, 'node_modules');
  for (const each of UNUSED) rmSync(join(modules, each), { recursive: true, force: true });
  const prebuilt = join(modules, 'better-sqlite3', 'prebuilds');
  for (const each of readdirSync(prebuilt))
    if (!PREBUILT.test(each) || !each.includes(process.arch)) rmSync(join(prebuilt, each));
  const file = join(out, `${TITLE}-linux-${process.arch}.tar.gz`);
  const time = run('git', ['log', '-1', '--format=%ct']).trim();
  const attributes = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    `--mtime=@${time}`,
  ];
  run('tar', [...attributes, '-C', folder, '-I', 'gzip -9n', '-cf', file, TITLE]);
  return file;
}

/** Refuses a commit that cannot be released, before anything is built. */
function checkFirst(): void {
  if (run('git', ['status', '--porcelain']).trim() !== '')
    refuse('Commit first: a release is made of a commit.');
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const texts: ReleaseTexts = {
    version,
    lock: JSON.parse(read('package-lock.json')),
    changelog: read('CHANGELOG.md'),
    install: read('docs/install.md'),
    embedding: read('docs/embedding.md'),
    security: read('SECURITY.md'),
    isKept: existsSync(join(ROOT, 'test/release', version, 'interface.txt')),
  };
  const faults = faultsOfRelease(texts);
  if (faults.length === 0) return;
  if (!isTrial) refuse(`${faults.join('\n')}\nCONTRIBUTING.md, "Make a release", has the steps.`);
  process.stdout.write(`Only a trial, not for publication:\n${faults.join('\n')}\n`);
}

/** Runs the suites on what the archive has, with the tests of the commit. @param folder a new one */
function test(archive: string, folder: string): void {
  run('git', ['clone', '--quiet', ROOT, folder]);
  cpSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  });
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1']);
  if (run('git', ['status', '--porcelain'], { cwd: folder }).trim() !== '')
    refuse('The archive differs from the commit.');
  // Nothing is to be installed anew.
  run('touch', [join(folder, 'node_modules', '.installed')]);
  for (const target of ['types', 'lint', 'coverage', 'test-long', 'test-pages', 'test-mirror', 'torture']) {
    process.stdout.write(`make ${target}\n`);
    // Whoever waits for it sees which test has failed.
    execFileSync('make', [target], { cwd: folder, stdio: 'inherit' });
  }
}

/** @returns the sums of the files in `out`, once all of them are made and tried */
async function make(work: string, out: string): Promise<string> {
  const [first, second] = [pack(join(work, 'first')), pack(join(work, 'second'))];
  if (sha256(first) !== sha256(second)) refuse('Two builds of the package differ.');
  cpSync(first, join(out, basename(first)));
  const server = join(work, 'server');
  const archive = archiveOf(server, out);
  const unpacked = join(server, TITLE);
  writeFileSync(join(out, `${TITLE}-licences.txt`), licencesOf(unpacked));
  const committedAt = new Date(Number(run('git', ['log', '-1', '--format=%ct'])) * 1000).toISOString();
  writeFileSync(join(out, `${TITLE}-sbom.json`), sbomOf(unpacked, committedAt));
  const files = readdirSync(out).sort();
  const sums = files.map((file) => `${sha256(join(out, file))}  ${file}\n`).join('');
  writeFileSync(join(out, 'SHA256SUMS'), sums);
  await tryArchive(out, TITLE, join(work, 'tried'));
  if (!isTrial) test(archive, join(work, 'tested'));
  const key = process.env.RELEASE_KEY;
  if (key !== undefined)
    run('gpg', ['--local-user', key, '--armor', '--detach-sign', join(out, 'SHA256SUMS')]);
  return sums;
}

const work = mkdtempSync(join(tmpdir(), 'registry-release-'));
// On the disk of release/, so that its files appear there together.
const out = mkdtempSync(`${RELEASE}.`);
try {
  checkFirst();
  chmodSync(work, 0o755);
  const sums = await make(work, out);
  chmodSync(out, 0o755);
  rmSync(RELEASE, { recursive: true, force: true });
  renameSync(out, RELEASE);
  const signing =
    process.env.RELEASE_KEY === undefined ? '; RELEASE_KEY=<id of your GnuPG key> signs SHA256SUMS' : '';
  process.stdout.write(`${sums}
The files are in release/${signing}.
Next:
  git tag -a v${version} -m ${version} && git push origin v${version}
  publish the files with the section of CHANGELOG.md; docs/install.md installs the archive
`);
} catch (error) {
  // Programs print their errors themselves; the compiler does so to standard output, shown here.
  const isOfProgram = error instanceof Error && 'status' in error;
  if (isOfProgram && 'stdout' in error && typeof error.stdout === 'string')
    process.stderr.write(error.stdout.slice(-4_000));
  const message =
    error instanceof Refusal ? error.message : isOfProgram ? 'A step failed; see above.' : String(error);
  process.stderr.write(`${message}\nNothing was released: release/ is as it was.\n`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
  rmSync(out, { recursive: true, force: true });
}
