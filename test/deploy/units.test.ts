/** The systemd units of `deploy/`, as systemd reads them. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inLanguage } from '../../src/values/language.ts';
import { say } from '../../src/values/message.ts';
import { temporaryFolder } from '../support/app.ts';
import { missing, ROOT, readDeployed, replaceAll } from './programs.ts';

const INSTALLED = '/usr/local/lib/cooperative-registry';
const UNITS = readdirSync(join(ROOT, 'deploy')).filter((name) => /\.(?:service|timer)$/.test(name));
const SERVICES = UNITS.filter((name) => name.endsWith('.service'));
const skip = missing('systemd-analyze');

/** The units with a program that this machine has. */
function copyUnits(context: TestContext): string {
  const folder = temporaryFolder(context);
  cpSync(join(ROOT, 'deploy'), folder, { recursive: true });
  for (const name of SERVICES) {
    const [program = ''] = /(?<=^ExecStart=)\S+/m.exec(readDeployed(name)) ?? [];
    writeFileSync(join(folder, name), replaceAll(readDeployed(name), [[program, process.execPath]]));
  }
  return folder;
}

test('systemd accepts every line of the units', { skip }, (context) => {
  const folder = copyUnits(context);
  assert.ok(UNITS.length >= 3, UNITS.join());
  for (const name of UNITS) {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, name)]);
    // Other units of the machine may have faults of their own.
    const faults = stderr.toString().match(/^.*cooperative-.*$/gm);
    assert.deepEqual([status, faults], [0, null], name);
  }
});

test('systemd rates what the services may do at 2.5 or less', { skip }, (context) => {
  const folder = copyUnits(context);
  for (const name of SERVICES) {
    // Above the threshold, in tenths, the status is 1.
    const options = ['--offline=true', '--threshold=25', '--no-pager'];
    const printed = execFileSync('systemd-analyze', ['security', ...options, join(folder, name)], {
      encoding: 'utf8',
    });
    assert.ok(printed.includes(`Overall exposure level for ${name}`));
  }
});

/** A missing address ends the service with status 2, after which systemd does not start it again. */
test('a boot starts the service when the addresses of the machine are there', () => {
  const unit = readDeployed('cooperative-registry.service');
  for (const line of [
    'Wants=network-online.target',
    'After=network-online.target',
    'RestartPreventExitStatus=1 2',
  ])
    assert.ok(unit.split('\n').includes(line), line);
});

test('what the units, the command and the document name is the same', () => {
  const document = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
  const { devDependencies, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.ok(document.includes(` node@${devDependencies.node}\n`), 'the version of Node in docs/install.md');
  assert.ok(readDeployed('Dockerfile').includes(`FROM node:${devDependencies.node}-`), 'in the Dockerfile');
  assert.ok(
    document.includes(`cooperative-registry-${version}-linux-x64.tar.gz`),
    'the version of the release',
  );
  const stopsAfter = Number(
    /^TimeoutStopSec=([0-9]+)$/m.exec(readDeployed('cooperative-registry.service'))?.[1],
  );
  assert.ok(stopsAfter > 15, 'longer than the service takes to stop');
  for (const name of ['registry', 'cooperative-.service.d/hardening.conf', ...SERVICES])
    assert.ok(readDeployed(name).includes(INSTALLED), name);
});

test('the launcher of the desk is called as the pages are, and starts what is installed', () => {
  const launcher = readDeployed('registry-desk.desktop');
  const value = (key: string) =>
    launcher
      .split('\n')
      .find((line) => line.startsWith(`${key}=`))
      ?.slice(key.length + 1);
  assert.equal(value('Name'), 'Registry desk');
  for (const language of ['fr', 'rw'] as const)
    assert.equal(value(`Name[${language}]`), inLanguage(say('Registry desk'), language));
  assert.equal(value('Path'), INSTALLED);
  assert.equal(value('Exec'), `"${INSTALLED}/node_modules/.bin/node" src/main.ts desk --open`);
  const icon = value('Icon')?.replace(INSTALLED, ROOT) ?? '';
  assert.ok(existsSync(icon), icon);
  const { status, stdout, error } = spawnSync('desktop-file-validate', [
    join(ROOT, 'deploy/registry-desk.desktop'),
  ]);
  if (error === undefined) assert.equal(status, 0, String(stdout));
});
