/** Text that is written field by field is what JSON.stringify would give. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ListedMember } from '../../src/registry/members.ts';
import { MEMBER, serializeMemberRow } from '../../src/registry/routes/member-routes.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { instant, plain, serializeObject, text } from '../../src/values/serializer.ts';
import { startApp, temporaryFolder } from '../support/app.ts';
import { openStore } from '../support/sqlite.ts';

interface Sample {
  readonly code: string | null;
  readonly name: string | null;
  readonly nick: string | null;
  readonly count: number;
}

const sample = fc.record({
  code: fc.option(fc.stringMatching(/^[A-Z0-9_+:-]*$/)),
  name: fc.option(fc.string({ unit: 'binary' })),
  nick: fc.option(
    fc.string({ unit: fc.constantFrom('"', '\\', '\u0000', '\u001f', '\u007f', 'é', '😀', 'a') }),
  ),
  count: fc.integer(),
});

test('a serialized object is the text of JSON.stringify, whatever characters and nulls follow each other', () => {
  const serialize = serializeObject<Sample, Sample>({
    code: plain(({ code }) => code),
    name: text(({ name }) => name),
    nick: text(({ nick }) => nick),
    count: ({ count }) => String(count),
  });
  const nickLast = serializeObject<Omit<Sample, 'code' | 'name'>, Sample>({
    count: ({ count }) => String(count),
    nick: text(({ nick }) => nick),
  });
  fc.assert(
    fc.property(sample, (value) => {
      assert.equal(serialize(value, KIGALI), JSON.stringify(value));
      assert.equal(nickLast(value, KIGALI), JSON.stringify({ count: value.count, nick: value.nick }));
    }),
    { numRuns: 500 },
  );
});

test('an instant is shown with the offset of the zone, and null as null', () => {
  const serialize = serializeObject<{ at: string | null }, { at: number | null }>({
    at: instant(({ at }) => at),
  });
  assert.equal(serialize({ at: 0 }, KIGALI), '{"at":"1970-01-01T02:00:00+02:00"}');
  assert.equal(serialize({ at: null }, KIGALI), '{"at":null}');
});

test('a row of a list shows any text exactly', async (context) => {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  const cooperative = await store.cooperatives.create(
    {
      ...{ code: 'A', name: 'é"\\', sector: null, province: null, district: null },
      ...{ registrationDate: null, status: 'active' },
    },
    0,
    'key:1',
  );
  const characters = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({ unit: fc.constantFrom('"', '\\', '\u0001', '\u001f', '\u007f', 'é', '😀'), minLength: 1 }),
  );
  // NUL is refused before it reaches storage.
  const anyText = characters.filter((given) => !given.includes('\u0000'));
  let n = 0;
  await fc.assert(
    fc.asyncProperty(anyText, anyText, async (fullName, code) => {
      const identityCard = `119858${9_000_000 + n++}042`;
      const values = {
        ...{ cooperativeId: cooperative.id, identityCard, memberCode: `${code}-${n}`, fullName },
        ...{ firstName: null, lastName: null, gender: null, dateOfBirth: null, mobile: null },
        ...{ role: 'MEMBER' as const, status: 'active' as const, registrationDate: 0 },
      };
      const member = await store.members.create(values, 0, 'key:1');
      const [row] = (await store.members.list({ identityCard }, { page: 1, pageSize: 10 })).rows;
      const full = JSON.parse(MEMBER.serialize(member, KIGALI));
      const shown = Object.keys(JSON.parse(serializeMemberRow(row as ListedMember, KIGALI)));
      const expected = Object.fromEntries(shown.map((name) => [name, full[name]]));
      assert.equal(serializeMemberRow(row as ListedMember, KIGALI), JSON.stringify(expected));
      assert.deepEqual([expected.full_name, expected.mobile], [fullName, null]);
    }),
    { numRuns: 200 },
  );
});

test('names beyond ASCII arrive complete in a list, with the right length', async (context) => {
  const app = await startApp(context);
  await app.send('/cooperatives', { method: 'POST', body: { code: 'A', name: 'Coopérative “Ñandú”' } });
  const full_name = 'Zoë "Ki\\ny" Ångström 😀';
  const body = { cooperative_id: '1', identity_card: '1198589000123042', member_code: 'é-1', full_name };
  assert.equal((await app.send('/members', { method: 'POST', body })).json.full_name, full_name);
  const list = await app.send('/members');
  assert.equal(list.headers['content-length'], String(Buffer.byteLength(list.text)));
  assert.equal(list.json.results[0].full_name, full_name);
  assert.equal(list.json.results[0].cooperative.name, 'Coopérative “Ñandú”');
});
