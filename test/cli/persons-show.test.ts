/** `persons show`: what the law gives a person a right to see. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type ImportPlace,
  importPlace,
  LOANS_HEADER,
  MEMBERS_HEADER,
  nid,
  SAVINGS_HEADER,
} from '../support/importing.ts';

const WHY = ['--reason', 'Card was reissued'];
const MORE = 'first_name,last_name,gender,date_of_birth,mobile,role,status,registration_date';
const HEADER = `${MEMBERS_HEADER},${MORE}`;

/** Person 1 is active in one cooperative and has left the other, with entries of each kind. */
async function personPlace(context: TestContext): Promise<ImportPlace> {
  const place = importPlace(context);
  const load = async (kind: string, content: string, ...more: string[]) => {
    const { status, err } = await place.load(kind, content, ...more);
    assert.equal(status, 0, err);
  };
  await load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await load(
    'members',
    `${HEADER}
A-1,${nid(1)},M-1,Keza Aline,Aline,Keza,female,1985-01-02,0788000111,TREASURER,active,2020-01-01
B-2,${nid(1)},X-9,Kezza Aline,,,,,0788000112,MEMBER,withdrawn,2019-01-01
A-1,${nid(2)},M-2,Mugabo Jean,,,,1990-05-06,0788000222,MEMBER,active,2020-01-01
`,
  );
  await load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg,product\n' +
      'A-1,M-1,P-1,2025-06-01,10.5,Coffee\nB-2,X-9,P-2,2018-06-01,3,Tea\nA-1,M-2,P-3,2025-06-01,9,Maize\n',
  );
  await load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,123,2025-06-01\n`);
  await load('loans', `${LOANS_HEADER}\nA-1,M-1,L-1,1000,12,approved,250,2025-01-01,,2025-01-01\n`);
  place.query(
    `INSERT INTO payments (cooperative_id, loan_id, reference, amount_minor, method, status, paid_at,
       created_at, updated_at) VALUES (1, 1, 'Y-1', 777, 'cash', 'void', 1, 1, 1) RETURNING id`,
  );
  await load('members', `${MEMBERS_HEADER}\nA-1,${nid(1)},M-1,Keza Aline Marie\n`);
  return place;
}

test('persons show prints every stored value of the person, and none of anybody else', async (context) => {
  const place = await personPlace(context);
  const shown = await place.command('persons', 'show', nid(1), '--json');
  assert.equal(shown.status, 0, shown.err);
  const { identity_card, former_identity_cards, memberships, history, kept_responses } = JSON.parse(
    shown.out,
  );
  assert.deepEqual([identity_card, former_identity_cards, kept_responses], [nid(1), [], 0]);
  const [first, second] = memberships;
  assert.deepEqual(
    { ...first, deliveries: 1, loans: 1, payments: 1, savings_accounts: 1, savings_transactions: 1 },
    {
      ...{ id: '1', cooperative: 'A-1', identity_card: nid(1), member_code: 'M-1' },
      ...{ full_name: 'Keza Aline Marie', first_name: 'Aline', last_name: 'Keza', gender: 'FEMALE' },
      ...{ date_of_birth: '1985-01-02', mobile: '+250788000111', role: 'TREASURER', status: 'active' },
      registration_date: '2020-01-01T00:00:00+02:00',
      ...{ created_at: '2025-06-15T12:00:00+02:00', updated_at: '2025-06-15T12:00:00+02:00' },
      ...{ date_of_death: null, deliveries: 1, loans: 1, payments: 1 },
      ...{ savings_accounts: 1, savings_transactions: 1 },
    },
  );
  assert.deepEqual(
    [second.cooperative, second.status, second.full_name],
    ['B-2', 'withdrawn', 'Kezza Aline'],
  );
  assert.equal(first.deliveries[0].kg, '10.500');
  assert.equal(second.deliveries[0].product, 'Tea');
  assert.deepEqual([first.loans[0].paid_amount, first.payments[0].amount], ['250.00', '7.77']);
  assert.deepEqual(
    [first.savings_accounts[0].account_number, first.savings_transactions[0].amount],
    ['S-1', '123.00'],
  );
  const renamed = history.find(({ field }: { field: string }) => field === 'full_name');
  assert.deepEqual(
    [renamed.entity, renamed.row, renamed.old, renamed.new, renamed.actor],
    ['members', 'M-1', 'Keza Aline', 'Keza Aline Marie', 'import:6'],
  );
  // One for each row but the payment, which was written past the history.
  const created = history.filter(({ field }: { field: string }) => field === 'created');
  const rows = [first, second].flatMap((each) => [
    each,
    ...each.deliveries,
    ...each.loans,
    ...each.payments,
    ...each.savings_accounts,
    ...each.savings_transactions,
  ]);
  assert.equal(created.length, rows.length - 1);
  for (const other of [nid(2), 'Mugabo', '788000222', 'P-3', 'M-2'])
    assert.ok(!shown.out.includes(other), other);
});

test('persons show leaves out no column of any table of the person', async (context) => {
  const place = await personPlace(context);
  const { memberships } = JSON.parse((await place.command('persons', 'show', nid(1), '--json')).out);
  const shown = {
    members: memberships[0],
    production_entries: memberships[0].deliveries[0],
    loans: memberships[0].loans[0],
    payments: memberships[0].payments[0],
    savings_accounts: memberships[0].savings_accounts[0],
    savings_transactions: memberships[0].savings_transactions[0],
  };
  const names: { [column: string]: string } = {
    ...{ cooperative_id: 'cooperative', grams: 'kg', amount_minor: 'amount', account_id: 'account_number' },
    ...{ interest_rate_hundredths: 'interest_rate', paid_amount_minor: 'paid_amount' },
    opening_balance_minor: 'opening_balance',
  };
  // The read model adds up what is shown beside it.
  const computed = ['production', 'loans', 'savings'];
  for (const [table, row] of Object.entries(shown)) {
    const columns = place.query<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`);
    for (const { name } of columns)
      if (!computed.includes(name)) assert.ok((names[name] ?? name) in row, `${table}.${name}`);
  }
});

test('persons show finds a person by a former number, and shows it', async (context) => {
  const place = await personPlace(context);
  assert.equal((await place.command('nid', 'replace', '--yes', nid(1), nid(7), ...WHY)).status, 0);
  const { status, out } = await place.command('persons', 'show', nid(1));
  assert.equal(status, 0);
  assert.match(out, new RegExp(`^National ID +${nid(7)}\nFormer numbers +${nid(1)}\n`));
  assert.match(
    out,
    /\nMember M-1 of A-1\n[\s\S]*\nDeliveries\n[\s\S]*\nMember X-9 of B-2\n[\s\S]*\nHistory\n/,
  );
  assert.match(out, new RegExp(`identity_card +${nid(1)} +${nid(7)} +correction 7: .+\n`));
});

test('persons show refuses what is not a national ID, and says when nobody has it', async (context) => {
  const place = await personPlace(context);
  assert.equal((await place.command('persons', 'show', '123')).status, 2);
  const nobody = await place.command('persons', 'show', nid(9));
  assert.deepEqual([nobody.status, nobody.out, nobody.err], [1, '', 'No person has this national ID.\n']);
});

test('persons show has the values of a registration that was merged into the person', async (context) => {
  const place = await personPlace(context);
  await place.load('members', `${MEMBERS_HEADER}\nA-1,${nid(5)},M-5,Keza Alinne Twice\n`);
  const id = String(place.value("SELECT id FROM members WHERE member_code = 'M-5'"));
  const merged = await place.command('members', 'merge', '--yes', id, '1', '--reason', 'Registered twice');
  assert.equal(merged.status, 0, merged.err);
  const { history } = JSON.parse((await place.command('persons', 'show', nid(1), '--json')).out);
  const olds = history.map(({ old }: { old: string | null }) => old);
  assert.ok(olds.includes('Keza Alinne Twice') && olds.includes(nid(5)), olds.join());
});
