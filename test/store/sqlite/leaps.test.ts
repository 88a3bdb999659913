/** Ids after the largest leaps: counts, pages, searches, lookups and checks still work. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { leapIds } from '../../../src/backup/restore-backup.ts';
import { checkStorage } from '../../../src/check/check.ts';
import { StorageError } from '../../../src/sqlite/sqlite-errors.ts';
import { startApp } from '../../support/app.ts';

const SCOPES = [
  ...['cooperatives:read', 'cooperatives:write', 'members:read', 'members:write', 'members:financials'],
  ...['loans:read', 'loans:write'],
] as const;

test('after several of the largest leaps in a row lists, searches, lookups and checks are right', async (context) => {
  let app = await startApp(context);
  const folder = dirname(app.config.storage);
  let { key } = app.issue(SCOPES, {});
  const ids: string[] = [];
  const codes: string[] = [];
  for (let round = 0; round < 6; round++) {
    const send = async (path: string, body?: object) => {
      const response = await app.send(path, { key, ...(body && { method: 'POST', body }) });
      assert.ok(response.status < 300, `${path}: ${response.status} ${response.text}`);
      return response.json as Record<string, unknown>;
    };
    const code = `C-${round}`;
    codes.push(code);
    const { id: cooperative_id } = await send('/cooperatives', { code, name: `Abahuje ${round}` });
    const people = { cooperative_id, full_name: 'Uwase Rose' };
    for (const n of [1, 2, 3]) {
      const identity_card = `1198580000${round}0${n}000${n}`.slice(0, 16).padEnd(16, '0');
      const member = await send('/members', { ...people, identity_card, member_code: `M-${n}` });
      ids.push(member.id as string);
      assert.equal((await send(`/members/${identity_card}`)).identity_card, identity_card);
      await send('/loans', { member_id: member.id, reference: `L-${n}`, amount: '10', interest_rate: '1' });
    }
    const list = await send(`/members?page_size=2&page=${Math.ceil(ids.length / 2)}`);
    assert.equal(list.count, ids.length);
    const last = (list.results as { id: string }[]).at(-1);
    assert.equal(last?.id, ids.at(-1));
    assert.equal((await send('/members?search=uwase')).count, ids.length);
    assert.equal((await send(`/members?search=uwase&cooperative=${cooperative_id}`)).count, 3);
    assert.equal((await send(`/cooperatives/${cooperative_id}/members`)).count, 3);
    assert.equal((await send('/loans')).count, ids.length);
    assert.equal((await send('/cooperatives?search=abahuje')).count, round + 1);
    const findings = checkStorage(app.registry.storage);
    assert.deepEqual(
      findings.filter(({ fault }) => fault !== null),
      [],
    );
    await app.registry.close();
    leapIds(join(folder, 'registry.db'), (_, to) => to - 1);
    app = await startApp(context, { folder });
    key = app.issue(SCOPES, {}).key;
  }
  assert.ok(Number(ids.at(-1)) > 4_900_000_000, ids.at(-1));
  assert.equal(new Set(ids).size, ids.length);
});

test('an id of more than 12 digits is refused before anything is restored', async (context) => {
  const app = await startApp(context);
  await app.registry.close();
  const leap = () => leapIds(app.config.storage, () => 999_999_999_999);
  assert.throws(
    leap,
    (error) => error instanceof StorageError && /^The ids of \w+ would be higher than/.test(error.message),
  );
});
