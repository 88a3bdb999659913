/** What docs/install.md prints does what it says; other programs stand in for those that ask the internet. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/app.ts';
import { missing, ROOT, readDeployed, replaceAll } from './programs.ts';

const DOCUMENT = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
const skip = process.getuid?.() !== 0 && 'Only root can install.';

/** The commands that install the libraries in a clone. */
function fromSource(): string {
  const [, command] = /^## From source\n[\s\S]*?```sh\n(npm ci [\s\S]*?)```/m.exec(DOCUMENT) ?? [];
  return command ?? assert.fail('docs/install.md does not say how to install from source.');
}

/** Unpacks as npm does when root runs it: one package with owner and modes as they were packed. */
const NPM = `#!/bin/sh
set -eu
umask 0
mkdir -p node_modules/pend node_modules/.bin
echo 'module.exports = 1' > node_modules/pend/index.js
echo 1 > node_modules/pend/private.js
chmod 600 node_modules/pend/private.js
echo '#!/bin/sh' > node_modules/node
chmod 755 node_modules/node
ln -sf ../node node_modules/.bin/node
chown -hR 1000:1000 node_modules/pend node_modules/.bin
`;

test('every file of the program belongs to root, and others can read but not change it', {
  skip,
}, (context) => {
  const folder = temporaryFolder(context);
  const programs = join(folder, 'programs');
  const release = join(folder, 'release');
  for (const each of [programs, release]) mkdirSync(each);
  writeFileSync(join(programs, 'npm'), NPM, { mode: 0o755 });
  writeFileSync(join(release, 'package.json'), '{}');
  chmodSync(join(release, 'package.json'), 0o664);
  const PATH = `${programs}${delimiter}${process.env.PATH}`;
  execFileSync('sh', ['-euc', fromSource()], { cwd: release, env: { PATH }, stdio: 'pipe' });

  const installed = readdirSync(release, { recursive: true, encoding: 'utf8' });
  assert.ok(installed.includes('node_modules/pend/index.js'), installed.join());
  for (const path of ['.', ...installed]) {
    const found = lstatSync(join(release, path));
    assert.deepEqual([found.uid, found.gid], [0, 0], path);
    // The mode of a link is not used.
    if (found.isSymbolicLink()) continue;
    const runs = found.isDirectory() || path === 'node_modules/node';
    assert.equal((found.mode & 0o7777).toString(8), runs ? '755' : '644', path);
  }
});

/**
 * Installs the command `registry`, with the settings in `settings.env`.
 * @param runuser script in place of this program
 */
function installCommand(folder: string, runuser: string) {
  writeFileSync(join(folder, 'runuser'), `#!/bin/sh\n${runuser}\n`, { mode: 0o755 });
  const installed = replaceAll(readDeployed('registry'), [
    ['/etc/cooperative-registry.env', join(folder, 'settings.env')],
    ['/usr/local/lib/cooperative-registry', ROOT],
  ]);
  writeFileSync(join(folder, 'registry'), installed, { mode: 0o755 });
  const PATH = `${folder}${delimiter}${process.env.PATH}`;
  return (...args: string[]) =>
    spawnSync(join(folder, 'registry'), args, { env: { PATH }, encoding: 'utf8' });
}

/** As systemd reads the file for the service (EnvironmentFile). */
test('the command reads settings with spaces, quotes and signs as the service does', (context) => {
  const folder = temporaryFolder(context);
  const settings = [
    '# REGISTRY_DB=/nowhere',
    'REGISTRY_USER=Jane  Doe ',
    'REGISTRY_DB="/var/lib/a registry.db"',
    '',
    '; HOST=nowhere',
    "PUBLIC_URL='https://registry.example.rw/a?b=$HOME&c=`id`'",
    'TIME_ZONE_OFFSET=+02:00',
  ];
  writeFileSync(join(folder, 'settings.env'), settings.join('\n'));
  // The last line may lack its line feed.
  const shown = ['REGISTRY_USER', 'REGISTRY_DB', 'PUBLIC_URL', 'TIME_ZONE_OFFSET', 'HOST'];
  const lines = shown.map((name) => `printf '%s\\n' "\${${name}-absent}"`);
  const { stdout } = installCommand(folder, lines.join('\n'))('status');
  assert.deepEqual(stdout.split('\n').slice(0, -1), [
    'Jane  Doe',
    '/var/lib/a registry.db',
    'https://registry.example.rw/a?b=$HOME&c=`id`',
    '+02:00',
    'absent',
  ]);
});

test('commands in messages can be typed as the program is installed', (context) => {
  const folder = temporaryFolder(context);
  writeFileSync(join(folder, 'settings.env'), `REGISTRY_DB=${folder}/registry.db`);
  const registry = installCommand(folder, 'shift 3; exec "$@"');
  const created = registry('keys', 'create', '--create', '--name', 'one', '--scope', 'members:read');
  assert.equal(created.status, 0, created.stderr);
  assert.match(registry('status').stdout, /^ {6}registry backup DIR --keep 14 --verify$/m);
});

/** Every line of the page's commands that uses the name of the machine or of a release. */
const namedLines = [...DOCUMENT.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)]
  .flatMap(([, commands = '']) => commands.split('\n'))
  .filter((line) => /\$\{?(?:NAME|RELEASE)/.test(line));

test('a command without the name ends, and leaves the files as they were', (context) => {
  assert.ok(namedLines.length >= 9, namedLines.join('\n'));
  const folder = temporaryFolder(context);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/sha256sum'), '#!/bin/sh\n', { mode: 0o755 });
  for (const shell of ['/bin/sh', '/bin/bash'])
    for (const line of namedLines) {
      const target = join(folder, 'target');
      writeFileSync(target, 'before');
      const moved = line.replace(/> \S+/, `> ${target}`).replaceAll(' /etc', ` ${folder}`);
      const { status, stderr } = spawnSync(shell, ['-c', moved], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: join(folder, 'bin') },
      });
      assert.notEqual(status, 0, line);
      assert.match(stderr, /(?:NAME|RELEASE): parameter (?:not set or null|null or not set|not set)/, line);
      assert.equal(readFileSync(target, 'utf8'), 'before', line);
    }
});

test('others can read what is unpacked, even by an administrator whose files are private', (context) => {
  const lines = DOCUMENT.match(/\bumask 022 && tar .*?-C \S+|\btar -xzf .*?-C \S+/g) ?? [];
  assert.equal(lines.length, 2);
  for (const line of lines) {
    const folder = temporaryFolder(context);
    const archived = join(folder, 'cooperative-registry-2.0.0');
    const installed = join(folder, 'installed');
    for (const each of [archived, installed]) mkdirSync(each);
    writeFileSync(join(archived, 'program'), '', { mode: 0o664 });
    const archive = `${archived}-linux-x64.tar.gz`;
    execFileSync('tar', ['-czf', archive, '-C', folder, 'cooperative-registry-2.0.0']);
    const command = replaceAll(line, [['/usr/local/lib', installed]]);
    execFileSync('sh', ['-euc', `RELEASE=2.0.0\numask 077\n${command}`], { cwd: folder });
    const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
    const unpacked = join(installed, 'cooperative-registry-2.0.0');
    assert.deepEqual([modeOf(unpacked), modeOf(join(unpacked, 'program'))], ['755', '644'], line);
  }
});

test('two releases: the sums of another one verify nothing, and say so', (context) => {
  const folder = temporaryFolder(context);
  const [, check] = /^ *(sha256sum [^&\n]*?) *(?:&&.*)?$/m.exec(DOCUMENT) ?? [];
  writeFileSync(join(folder, 'cooperative-registry-1.1.0-linux-x64.tar.gz'), 'new');
  writeFileSync(
    join(folder, 'SHA256SUMS'),
    `${'0'.repeat(64)}  cooperative-registry-1.0.0-linux-x64.tar.gz\n`,
  );
  const { status, stderr } = spawnSync('sh', ['-euc', check ?? assert.fail()], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /no file was verified/);
});

test('a spare machine fetches no folder of a backup that is being written or was killed', {
  skip: missing('rsync'),
}, (context) => {
  const folder = temporaryFolder(context);
  const complete = '000001-2026-11-22T11-17-24Z';
  for (const name of [complete, '000002-2026-11-22T17-17-24Z.incomplete-42'])
    mkdirSync(join(folder, 'backups', name), { recursive: true });
  const page = readFileSync(join(ROOT, 'docs/spare-machine.md'), 'utf8');
  const [line = ''] = /^ *rsync .* first:\/var\/backups\/registry\/ .*$/m.exec(page) ?? [];
  const command = replaceAll(line, [
    ['--chown=registry:', ''],
    ['first:/var/backups/registry/', join(folder, 'backups/')],
    ['/var/backups/first/', join(folder, 'fetched/')],
  ]);
  execFileSync('sh', ['-euc', command], { stdio: 'pipe' });
  assert.deepEqual(readdirSync(join(folder, 'fetched')), [complete]);
});

test('the newest backup that the runbooks name is a complete one', (context) => {
  const folder = temporaryFolder(context);
  const complete = '000001-2026-11-22T11-17-24Z';
  for (const name of [complete, '000002-2026-11-22T17-17-24Z.incomplete-42']) mkdirSync(join(folder, name));
  const page = readFileSync(join(ROOT, 'docs/incidents.md'), 'utf8');
  const commands = page.match(/\bls -d \S+\/0\S* \| tail -1/g) ?? [];
  assert.equal(commands.length, 4);
  for (const command of commands) {
    const moved = command.replace(/-d \S+\//, `-d ${folder}/`);
    assert.equal(execFileSync('sh', ['-c', moved], { encoding: 'utf8' }), `${folder}/${complete}\n`, command);
  }
});
