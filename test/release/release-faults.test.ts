/** A release whose places disagree on its version is refused before anything is built. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOfRelease, type ReleaseTexts } from './release-faults.ts';

const READY: ReleaseTexts = {
  version: '2.0.1',
  lock: { version: '2.0.1', packages: { '': { version: '2.0.1' } } },
  changelog: '# Changes\n\n## 2.0.1 (2026-12-01)\n',
  install: 'RELEASE=2.0.1\ntar -xzf cooperative-registry-2.0.1-linux-x64.tar.gz\nRELEASE=2.0.0',
  embedding: 'npm install ./cooperative-registry-2.0.1.tgz',
  security: 'Write to security@cooperatives.example.',
  isKept: true,
};

test('a commit that agrees on its version is ready', () => {
  assert.deepEqual(faultsOfRelease(READY), []);
});

test('each place that differs is named', () => {
  const cases: [Partial<ReleaseTexts>, RegExp][] = [
    [
      { lock: { version: '2.0.0', packages: { '': { version: '2.0.1' } } } },
      /package-lock\.json has version 2\.0\.0/,
    ],
    [
      { lock: { version: '2.0.1', packages: { '': { version: '2.0.0' } } } },
      /package-lock\.json has version 2\.0\.0/,
    ],
    [{ changelog: '## 2.0.1 (unreleased)' }, /CHANGELOG\.md/],
    [{ changelog: '## 2.001 (2026-12-01)' }, /CHANGELOG\.md/],
    [
      { install: 'RELEASE=2.0.1\ntar -xzf cooperative-registry-2.0.0-linux-x64.tar.gz' },
      /install\.md names the archive of 2\.0\.0/,
    ],
    [{ install: 'RELEASE=2.0.1' }, /install\.md names no archive/],
    [{ install: 'cooperative-registry-2.0.1-linux-x64.tar.gz RELEASE=2.0.0' }, /upgrades to RELEASE=2\.0\.0/],
    [{ install: 'cooperative-registry-2.0.1-linux-x64.tar.gz' }, /upgrades to RELEASE=\(nothing\)/],
    [{ embedding: 'cooperative-registry-2.0.0.tgz' }, /embedding\.md names the archive of 2\.0\.0/],
    [{ security: 'Write to security@example.org.' }, /SECURITY\.md/],
    [{ isKept: false }, /keep-release/],
  ];
  for (const [change, fault] of cases) {
    const faults = faultsOfRelease({ ...READY, ...change });
    assert.equal(faults.length, 1, String(fault));
    assert.match(String(faults[0]), fault);
  }
});
