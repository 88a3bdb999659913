/** Exports over HTTP: their rows, formats, headers and limits (docs/api.md#exports). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../src/access/api-keys.ts';
import { command } from '../support/command.ts';
import { nid } from '../support/importing.ts';
import { type Lending, startLending } from '../support/lending.ts';

const KINDS = ['cooperatives', 'members', 'loans', 'payments'] as const;
const DENIED = { detail: 'You do not have permission to perform this action.' };

/** Two cooperatives; members 1 and 2 in the first, 3 in the second, each with a loan and a payment. */
async function start(context: TestContext): Promise<Lending> {
  const lending = await startLending(context);
  const { lend, pay, put } = lending;
  for (const [id, member] of [
    ['1', '1'],
    ['2', '3'],
  ] as const) {
    const loan = { member_id: member, reference: `L-${id}`, amount: '1000.00', interest_rate: '18.00' };
    await lend(loan);
    await put(`/loans/${id}`, { ...loan, status: 'approved' });
    await pay(id);
  }
  return lending;
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test('exports', async (context) => {
  const { app, get } = await start(context);

  await context.test(
    'every line is the object that GET by id gives, and the headers say of when',
    async () => {
      const { epoch, last_sequence: last } = (await get('/events')).json;
      for (const kind of KINDS) {
        const { status, text, headers } = await get(`/${kind}/export`);
        assert.equal(status, 200);
        assert.equal(headers['content-type'], 'application/x-ndjson');
        assert.equal(headers['content-disposition'], `attachment; filename="${kind}.ndjson"`);
        assert.equal(headers['content-length'], String(Buffer.byteLength(text)));
        assert.deepEqual(
          [headers['x-snapshot-sequence'], headers['x-snapshot-epoch']],
          [String(last), epoch],
        );
        const lines = linesOf(text);
        assert.equal(lines.length, (await get(`/${kind}`)).json.count);
        for (const line of lines) assert.deepEqual(line, (await get(`/${kind}/${line.id}`)).json);
        const ids = lines.map(({ id }) => Number(id));
        assert.deepEqual(
          ids,
          [...ids].sort((a, b) => a - b),
        );
      }
    },
  );

  await context.test(
    'a key without the right to export is refused before its quota, one of lookups too',
    async () => {
      for (const key of [
        app.issue(SCOPES, { mayExport: false }).key,
        app.issue(SCOPES, { isLookupOnly: true }).key,
      ]) {
        for (const kind of KINDS) {
          const { status, json, headers } = await app.send(`/${kind}/export`, { key });
          assert.deepEqual([status, json, headers.ratelimit], [403, DENIED, undefined]);
        }
      }
    },
  );

  await context.test(
    'a key of some cooperatives exports their rows, and filters choose among them',
    async () => {
      const { key } = app.issue(SCOPES, { cooperatives: [2] });
      const ids = async (path: string, sent = {}) =>
        linesOf((await app.send(path, sent)).text).map(({ id }) => id);
      assert.deepEqual(await ids('/cooperatives/export', { key }), ['2']);
      assert.deepEqual(await ids('/members/export', { key }), ['3']);
      assert.deepEqual(await ids('/loans/export', { key }), ['2']);
      assert.deepEqual(await ids('/payments/export', { key }), ['2']);
      assert.deepEqual(await ids('/members/export?cooperative=1', { key }), []);
      assert.deepEqual(await ids('/members/export?cooperative=1'), ['1', '2']);
      assert.deepEqual(await ids('/members/export?status=withdrawn'), []);
      assert.deepEqual(await ids('/loans/export?cooperative=2&status=approved'), ['2']);
      assert.deepEqual(await ids('/payments/export?status=void'), []);
      assert.deepEqual(await ids('/cooperatives/export?status=ACTIVE'), ['1', '2']);
      assert.deepEqual((await get('/cooperatives/export?cooperative=1')).json, {
        cooperative: ['Unknown parameter.'],
      });
      assert.deepEqual((await get('/members/export?format=xml&status=x')).json, {
        format: ['"xml" is not a valid choice.'],
        status: ['"x" is not a valid choice.'],
      });
    },
  );

  await context.test('CSV has the cooperative and the member in columns of their own', async () => {
    const { text, headers } = await get('/members/export?format=csv&cooperative=2');
    assert.equal(headers['content-type'], 'text/csv; charset=utf-8');
    assert.equal(headers['content-disposition'], 'attachment; filename="members.csv"');
    const [header, row] = text.split('\n');
    assert.match(header as string, /^id,member_code,.*,cooperative_id,cooperative_code,cooperative_name,/);
    assert.match(row as string, new RegExp(`^3,M-3,.*,${nid(1)},.*,2,B-2,`));
    const loans = (await get('/loans/export?format=csv')).text.split('\n');
    assert.match(loans[0] as string, /^id,amount,interest_rate,status,paid_amount,paid_until,/);
    // The payment comes with the payments.
    assert.match(loans[1] as string, /^1,1000.00,18.00,approved,0.00,,/);
  });

  await context.test('gzip for those who take it, whatever else they take', async () => {
    const plain = (await get('/members/export')).text;
    const ask = (accepted: string) =>
      fetch(`${app.url}/api/v1/members/export`, {
        headers: { Authorization: `Bearer ${app.fullKey}`, 'Accept-Encoding': accepted },
      });
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['br, gzip;q=0.5', 'gzip'],
      ['*', 'gzip'],
      ['GZIP; q=1.0', 'gzip'],
      ['gzip;q=0', null],
      ['gzip;q=0, *', null],
      ['identity, gzip;q=0.5', null],
      ['br', null],
      ['identity', null],
    ] as const) {
      const response = await ask(accepted);
      assert.equal(response.headers.get('content-encoding'), encoding, accepted);
      assert.equal(response.headers.get('vary'), 'Accept-Encoding');
      assert.equal(await response.text(), plain);
    }
  });

  await context.test('HEAD says where the sequence is, and exports nothing', async (each) => {
    const { headers } = await get('/members/export');
    const run = each.mock.method(app.registry.storage, 'pathForOpening');
    const head = await app.send('/members/export', { method: 'HEAD' });
    assert.equal(head.status, 200);
    for (const name of ['content-type', 'content-disposition', 'x-snapshot-sequence', 'x-snapshot-epoch'])
      assert.equal(head.headers[name], headers[name]);
    assert.equal(run.mock.callCount(), 0);
  });
});

const DELIVERY = { reference: 'D-1', delivered_at: '2025-06-01T08:00:00+02:00', kg: '12.5', product: 'Milk' };
const SAVING = {
  ...{ account_number: 'S-1', reference: 'T-1', kind: 'contribution', amount: '1000.00' },
  transacted_at: '2025-06-02T09:00:00+02:00',
};

test('deliveries and savings transactions are those of the lists, with their member, as the command has them', async (context) => {
  const { app, get } = await start(context);
  for (const [name, kind, body] of [
    ['deliveries', 'production', DELIVERY],
    ['savings-transactions', 'savings', SAVING],
  ] as const) {
    for (const id of ['1', '3'])
      assert.equal((await app.send(`/members/${id}/${name}`, { method: 'POST', body })).status, 201);
    const { last_sequence: last } = (await get('/events')).json;
    const { text, headers } = await get(`/${name}/export`);
    assert.equal(headers['content-disposition'], `attachment; filename="${kind}.ndjson"`);
    assert.equal(headers['x-snapshot-sequence'], String(last));
    const lines = linesOf(text);
    assert.deepEqual(
      lines.map(({ member, cooperative }) => [member.id, member.identity_card, cooperative.code]),
      [
        ['1', nid(1), 'A-1'],
        ['3', nid(1), 'B-2'],
      ],
    );
    for (const { member, cooperative: _, ...entry } of lines)
      assert.deepEqual([entry], (await get(`/members/${member.id}/${name}`)).json.results);
    for (const format of ['ndjson', 'csv']) {
      const args = ['export', kind, '--format', format];
      const { out } = await command(args, { REGISTRY_DB: app.config.storage }, app.clock);
      assert.equal((await get(`/${name}/export?format=${format}`)).text, out, format);
    }
    const ids = async (query: string, sent = {}) =>
      linesOf((await app.send(`/${name}/export${query}`, sent)).text).map(({ id }) => id);
    assert.deepEqual(await ids('?cooperative=2'), ['2']);
    const narrow = { key: app.issue(SCOPES, { cooperatives: [2] }).key };
    assert.deepEqual([await ids('', narrow), await ids('?cooperative=1', narrow)], [['2'], []]);
    assert.deepEqual((await get(`/${name}/export?status=active`)).json, { status: ['Unknown parameter.'] });
    for (const scope of ['members:read', 'members:financials'] as const)
      assert.equal((await app.send(`/${name}/export`, { key: app.issue([scope]).key })).status, 403, scope);
    const { key: both } = app.issue(['members:read', 'members:financials']);
    assert.deepEqual(await ids('', { key: both }), ['1', '2']);
    for (const restriction of [{ mayExport: false }, { isLookupOnly: true }]) {
      const { key } = app.issue(SCOPES, restriction);
      assert.equal((await app.send(`/${name}/export`, { key })).status, 403);
    }
  }
});
