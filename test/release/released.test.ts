/** What earlier releases wrote is read, and what they promised is kept (docs/decisions/0033-release.md). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { IMPORT_KINDS } from '../../src/registry/file-columns.ts';
import { temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { readInterface } from './interface.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CHANGELOG = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
const RELEASES = readdirSync(HERE).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

/** The rows of a CSV file, by the names of its columns. No value of these files has a line break. */
function rowsOf(text: string): { readonly [column: string]: string | undefined }[] {
  const [header = [], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = '']) => cell));
  return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i]])));
}

test('there is a release to compare with', () => assert.ok(RELEASES.length > 0));

for (const release of RELEASES) {
  const folder = join(HERE, release);

  test(`what ${release} promised is there, unless the changelog says that it is not`, async () => {
    const today = new Set(await readInterface());
    const gone = readFileSync(join(folder, 'interface.txt'), 'utf8')
      .trim()
      .split('\n')
      .filter((line) => !today.has(line));
    // Each line is one that is gone, in backticks in the changelog's section "Removed".
    const announced = /### Removed\n([\s\S]*?)(?=\n##|$)/.exec(CHANGELOG)?.[1] ?? '';
    assert.deepEqual(
      gone.filter((line) => !announced.includes(`\`${line}\``)),
      [],
      'Clients of this are broken: keep it, or announce it six months ahead (docs/api.md#versions).',
    );
  });

  test(`a registry of ${release}, with its backup, is restored, checked and exported to the same rows`, async (context) => {
    const place = temporaryFolder(context);
    execFileSync('tar', ['-xzf', join(folder, 'registry.tar.gz'), '-C', place]);
    const files = join(place, 'kept');
    const env = { REGISTRY_DB: join(place, 'registry.db') };
    const run = async (...args: string[]) => {
      const { status, out, err } = await command(args, env);
      assert.equal(status, 0, `${args.join(' ')}: ${err}${out}`);
      return out;
    };
    await run('backup', 'verify', join(files, 'backup'));
    await run('restore', join(files, 'backup'));
    await run('summarize');
    await run('check');
    await run('ledger', 'verify');
    for (const kind of IMPORT_KINDS) {
      const before = rowsOf(readFileSync(join(files, `${kind}.csv`), 'utf8'));
      const now = rowsOf(await run('export', kind, '--format', 'csv'));
      // A later release may have more columns, anywhere: each row has what it had, under the same names.
      assert.ok(before.length > 0, kind);
      const names = Object.keys(before[0] ?? {});
      const kept = now.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
      assert.deepEqual(kept, before, kind);
    }
    assert.match(await run('keys', 'list'), /\S/);
    assert.match(await run('webhooks', 'list'), /https?:/);
    assert.ok(existsSync(env.REGISTRY_DB));
  });
}
