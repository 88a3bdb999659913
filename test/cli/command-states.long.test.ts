/** Every command on disks that take nothing: small ones that are mounted for each command. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { type Disk, type State, tryCommands } from '../support/command-matrix.ts';
import { fill, mount } from '../support/small-disk.ts';

const DISK_MB = 24;

const diskThat =
  (seal: (folder: string) => void) =>
  (folder: string): Disk => {
    mkdirSync(folder, { recursive: true });
    assert.equal(mount(folder, DISK_MB), undefined);
    return { seal: () => seal(folder), remove: () => void execFileSync('umount', [folder]) };
  };

const STATES: { readonly [name: string]: State } = {
  'that is read-only': {
    on: diskThat((folder) => void execFileSync('mount', ['-o', 'remount,ro', folder])),
    works: /^webhooks list\b/,
  },
  'that is full': { on: diskThat((folder) => fill(folder, 0)), works: /^webhooks list\b/ },
};

for (const [name, state] of Object.entries(STATES)) {
  test(`every command answers with a sentence and its status on a disk ${name}`, {
    skip: process.getuid?.() !== 0 && 'Mounting a small disk needs root.',
  }, async (context) => {
    assert.deepEqual(await tryCommands(context, state), []);
  });
}
