/** The files that `seed --csv` writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { command } from '../support/command.ts';
import { placeWithoutRegistry } from '../support/importing.ts';

test('the demo files import as any folder does, and a second time nothing changes', async (context) => {
  const place = placeWithoutRegistry(context);
  assert.equal((await command(['seed', '--csv', place.folder], {}, place.clock)).status, 0);
  const load = async () => {
    const imported = await place.run(place.folder, '--json');
    assert.equal(imported.status, 0, imported.out.slice(0, 500));
    return JSON.parse(imported.out).files as { readonly created: number; readonly changed: number }[];
  };
  assert.deepEqual(
    (await load()).map(({ created }) => created),
    [40, 2250, 24492, 300, 9609],
  );
  const checked = await place.command('check', '--json');
  assert.equal(checked.status, 0, checked.out);
  assert.equal(JSON.parse(checked.out).sound, true);
  for (const { created, changed } of await load()) assert.deepEqual([created, changed], [0, 0]);
});
