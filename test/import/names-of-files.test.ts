/** A national ID in the name of a file: it is hidden wherever the name is printed or stored. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { member, members, nid, startedPlace } from '../support/importing.ts';
import { filesWith } from '../support/registry-files.ts';

const NUMBER = nid(77);
const GROUPED = NUMBER.replace(/^(\d)(\d{4})(\d)(\d{7})(\d)(\d\d)$/, '$1 $2 $3 $4 $5 $6');

test('a national ID in the name of a file is neither printed nor stored', async (context) => {
  const place = await startedPlace(context);
  const shown: string[] = [];
  const run = async (...args: string[]) => {
    const { out, err } = await place.command(...args);
    shown.push(out, err);
    return out + err;
  };
  const good = place.write(`members ${GROUPED}.csv`, members(member(4)));
  const bad = place.write(`members-${NUMBER}.csv`, members('A-1,x,M-9,Nobody'));
  for (const file of [good, bad]) {
    await run('import', 'members', file, '--dry-run');
    await run('import', 'members', file, '--json');
    await run('import', 'members', file, '--rejects', join(place.folder, `rejects-${NUMBER}.csv`));
    await run('import', 'map', 'members', file);
  }
  await run('import', 'members', join(place.folder, `no-${NUMBER}.csv`));
  await run('import', 'members', good, '--file-name', `list of ${NUMBER}.csv`);
  mkdirSync(join(place.folder, 'sent'));
  place.write(`sent/${NUMBER}.csv`, members(member(5)));
  place.write(`sent/members-${NUMBER}.csv`, members(member(5)));
  assert.match(await run('import', join(place.folder, 'sent')), /1 new[\s\S]*Skipped \(hidden\)\.csv: /);
  assert.match(await run('imports', 'list'), /3 +members \(hidden\)\.csv/);
  await run('imports', 'list', '--json');
  await run('imports', 'show', '3');
  assert.match(await run('status'), /members-\(hidden\)\.csv \(members\)/);
  await run('status', '--json');
  for (const text of shown) assert.doesNotMatch(text, new RegExp(`${NUMBER}|${GROUPED}`));
  assert.deepEqual(filesWith(place.folder, [NUMBER, GROUPED]), []);
});
