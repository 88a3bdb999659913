/** Rows that are entered and changed by hand at the desk (docs/desk.md#entering-by-hand). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Browser, testDesk } from '../support/desk.ts';
import { nid, preparedPlace } from '../support/importing.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name,district\nA-1,Abahuje,Huye\nB-2,Biringaniye,Huye\n');
  const rows = [`A-1,${nid(1)},M-1,Keza Aline,0780000001`, `A-1,${nid(2)},M-2,Mukamana Esperance,`];
  await place.load(
    'members',
    `cooperative_code,identity_card,member_code,full_name,mobile\n${rows.join('\n')}\n`,
  );
  await place.load(
    'loans',
    'cooperative_code,member_code,reference,amount,interest_rate,status,loan_start_date\n' +
      'A-1,M-1,L-1,400000,18,pending,2025-03-01T10:24:00+02:00\n',
  );
});

async function begin(context: TestContext) {
  const place = await start(context);
  const desk = await testDesk(context, place.databaseFile);
  return { place, browser: await desk.enter(), clock: desk.clock };
}

type Fields = { readonly [name: string]: string };

const expectedIn = (page: string): string => /name="expected" value="([^"]+)"/.exec(page)?.[1] ?? '';

/** Sends a form, agrees to what it shows, and follows it. @returns the page that it goes on with */
async function agree(browser: Browser, path: string, given: Fields): Promise<string> {
  const plan = await browser.post(path, { action: 'enter', ...given });
  assert.equal(plan.status, 200, plan.text);
  const done = await browser.post(path, { action: 'enter', ...given, expected: expectedIn(plan.text) });
  assert.equal(done.status, 303, done.text);
  return (await browser.get(done.headers.location ?? '')).text;
}

test('a delivery is entered at once, keeps day and product for the next one, and is undone', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/A-1/enter/production';
  const given = { member_code: 'M-1', delivered_at: '2025-05-25', kg: '12.5', product: 'Coffee' };
  const done = await browser.post(path, { action: 'enter', ...given });
  assert.equal(done.status, 303, done.text);
  assert.equal(done.headers.location, `${path}?delivered_at=2025-05-25&product=Coffee`);
  const { text } = await browser.get(done.headers.location ?? '');
  assert.match(
    text,
    />New delivery: done \(A-1 · M-1 · Keza Aline, 25 May 2025, 12\.5 kg\)\. <a href="\/imports\/4">/,
  );
  assert.match(text, /name="delivered_at" type="date" value="2025-05-25"/);
  assert.match(text, /name="product" type="text" value="Coffee"/);
  assert.match(text, /name="kg" type="text" value=""/);
  assert.deepEqual(place.query('SELECT grams, product FROM production_entries'), [
    { grams: 12_500, product: 'Coffee' },
  ]);
  // Its page says what the line was, and whose.
  const { text: recorded } = await browser.get('/imports/4');
  assert.match(
    recorded,
    />delivery<[\s\S]*?>A-1 · M-1 · Keza Aline<\/a><[\s\S]*?>25 May 2025 · 12\.5 kg · Coffee</,
  );
  const shown = JSON.parse((await place.command('imports', 'show', '4', '--json')).out);
  assert.deepEqual([shown.kind, shown.reason, shown.user], ['row_enter', 'production', 'N. N. (tester)']);
  assert.equal((await place.command('imports', 'undo', '4', '--yes')).status, 0);
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 0);
  assert.equal((await place.command('check')).status, 0);
});

test('whose national ID a new member has is said before anything is written', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/B-2/enter/members';
  const given = { identity_card: nid(1), member_code: 'N-1', full_name: 'Uwase Odette' };
  const plan = await browser.post(path, { action: 'enter', ...given });
  assert.match(plan.text, /already that of A-1 · M-1 · Keza Aline\. Is it the same person\?/);
  assert.equal(place.value("SELECT count(*) FROM members WHERE member_code = 'N-1'"), 0);
  const nobodys = await browser.post(path, { action: 'enter', ...given, identity_card: nid(77) });
  assert.doesNotMatch(nobodys.text, /already that of/);
  // As copied from a cell of a spreadsheet.
  const copied = { ...given, identity_card: `'${nid(1)}` };
  const same = await browser.post(path, { action: 'enter', ...copied });
  assert.match(same.text, /already that of A-1 · M-1 · Keza Aline\. Is it the same person\?/);
  assert.match(await agree(browser, path, copied), /New member: done[\s\S]*<h1>Uwase Odette<\/h1>/);
});

test('a line that is stored already is asked about, and entered once more as another one', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/A-1/enter/savings';
  const given = {
    ...{ member_code: 'M-1', account_number: 'S-1', kind: 'contribution', amount: '5000' },
    transacted_at: '2025-05-25',
  };
  assert.equal((await browser.post(path, { action: 'enter', ...given })).status, 303);
  const asked = await browser.post(path, { action: 'enter', ...given });
  assert.match(asked.text, /This is stored already[\s\S]*name="again"/);
  assert.match(asked.text, /name="amount" type="text" value="5000"/);
  assert.equal(place.value('SELECT count(*) FROM savings_transactions'), 1);
  const again = await browser.post(path, { action: 'enter', ...given, again: 'yes' });
  assert.equal(again.status, 303, again.text);
  assert.equal(place.value('SELECT count(*) FROM savings_transactions'), 2);
  // The same line in a file is the first one of them.
  const file =
    'cooperative_code,member_code,account_number,kind,amount,transacted_at\n' +
    'A-1,M-1,S-1,contribution,5000,2025-05-25\n';
  assert.match((await place.load('savings', file)).out, /0 new, 0 changed, 1 unchanged/);
});

test('what is wrong is said beside its field, and what was typed stays', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/A-1/enter/members';
  const given = { identity_card: '123', member_code: 'M-3', full_name: 'Uwase Diane', gender: 'FEMALE' };
  const refused = await browser.post(path, { action: 'enter', ...given });
  assert.equal(refused.status, 422);
  assert.match(
    refused.text,
    /name="identity_card"[^>]*aria-invalid="true"[\s\S]*?class="fault" role="alert">/,
  );
  assert.match(refused.text, /name="full_name" type="text" value="Uwase Diane"/);
  assert.match(refused.text, /value="FEMALE" selected/);
  assert.equal(place.value('SELECT count(*) FROM members'), 2);
  const text = await agree(browser, path, { ...given, identity_card: nid(3) });
  assert.match(text, /New member: done[\s\S]*<h1>Uwase Diane<\/h1>/);
  assert.match(text, /<a href="\/cooperative\/A-1\/enter\/members">Enter another<\/a>/);
  assert.equal(place.value("SELECT full_name FROM members WHERE member_code = 'M-3'"), 'Uwase Diane');
});

test('a member is changed and withdrawn, and a file of before keeps the changed values', async (context) => {
  const { place, browser } = await begin(context);
  const person = (await browser.find(nid(1))).path;
  const path = `${person}/change/members/1`;
  const { text } = await browser.get(path);
  assert.match(text, /name="mobile" type="text" value="\+250780000001"/);
  const typed = Object.fromEntries(
    [...text.matchAll(/<input name="(\w+)"[^>]*? value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  ) as Fields;
  const given = { ...typed, role: 'MEMBER', gender: '', status: 'withdrawn', mobile: '0780000009' };
  const plan = await browser.post(path, { action: 'enter', ...given });
  assert.match(plan.text, /Telephone[\s\S]*\+250780000001[\s\S]*\+250780000009/);
  await agree(browser, path, given);
  const stored = () => place.query('SELECT mobile, status, full_name FROM members WHERE id = 1');
  const changed = [{ mobile: '+250780000009', status: 'withdrawn', full_name: 'Keza Aline' }];
  assert.deepEqual(stored(), changed);
  // As after a correction, a file that has the values of before does not set them back.
  const header = 'cooperative_code,identity_card,member_code,full_name,mobile';
  const file = `${header}\nA-1,${nid(1)},M-1,Keza Aline,0780000001\n`;
  assert.match((await place.load('members', file)).out, /1 value kept/);
  assert.deepEqual(stored(), changed);
});

test('a loan is approved with its start as it was, paid back, and a payment made void', async (context) => {
  const { place, browser } = await begin(context);
  const person = (await browser.find(nid(1))).path;
  const loan = { amount: '400000.00', interest_rate: '18.00', loan_start_date: '2025-03-01' };
  await agree(browser, `${person}/change/loans/1`, { ...loan, status: 'approved' });
  assert.equal(place.value('SELECT loan_start_date FROM loans'), Date.parse('2025-03-01T08:24:00Z') / 1000);
  assert.equal(place.value('SELECT status FROM loans'), 'approved');
  const payment = { reference: 'P-1', amount: '50000', method: 'cash', paid_at: '2025-06-10' };
  await agree(browser, `${person}/enter/payments/1`, payment);
  assert.equal(place.value('SELECT paid_amount_minor FROM loans'), 5_000_000);
  const stored = { amount: '50000.00', method: 'cash', paid_at: '2025-06-10' };
  await agree(browser, `${person}/change/payments/1`, { ...stored, status: 'void' });
  assert.equal(place.value('SELECT paid_amount_minor FROM loans'), 0);
  assert.equal((await place.command('check')).status, 0);
});

test('a payment beyond the amount of the loan is asked about, with what was left of it', async (context) => {
  const { place, browser } = await begin(context);
  const person = (await browser.find(nid(1))).path;
  const loan = { amount: '400000.00', interest_rate: '18.00', loan_start_date: '2025-03-01' };
  await agree(browser, `${person}/change/loans/1`, { ...loan, status: 'approved' });
  const path = `${person}/enter/payments/1`;
  const payment = { reference: 'P-1', amount: '350000', method: 'cash', paid_at: '2025-06-10' };
  await agree(browser, path, payment);
  const asked = async (at: string, amount: string, given: Fields) =>
    /role="alert">(.*?)<\/section>/.exec(
      (await browser.post(at, { ...payment, ...given, action: 'enter', amount })).text,
    )?.[1];
  const next = { reference: 'P-2' };
  // Exactly what was left.
  assert.equal(await asked(path, '50000', next), undefined);
  const beyond =
    '<p>With this payment, more than the amount of the loan, 400,000 Frw, is paid: 50,000 Frw of it was ' +
    'left. Is that right, with the interest?</p>';
  assert.equal(await asked(path, '50000.01', next), beyond);
  assert.equal(await asked(path, '850000', next), beyond);
  // Beyond three times the amount that is said, and only that.
  assert.match((await asked(path, '850000.01', next)) ?? '', /^<p>1 payment is on loans paid beyond three/);
  // A stored one, without which all of it was left.
  const stored = `${person}/change/payments/1`;
  assert.equal(await asked(stored, '400001', {}), beyond.replace('50,000', '400,000'));
  assert.equal(await asked(stored, '300000', {}), undefined);
  await agree(browser, path, { ...payment, ...next, amount: '60000' });
  assert.equal(place.value('SELECT paid_amount_minor FROM loans'), 41_000_000);
  // Nothing was left any more; what becomes less is not asked about.
  assert.equal(await asked(path, '1', { reference: 'P-3' }), beyond.replace('50,000 Frw of', '0 Frw of'));
  assert.equal(await asked(stored, '349999', {}), undefined);
  const header = 'cooperative_code,loan_reference,reference,amount,method,paid_at';
  const file = await place.load('payments', `${header}\nA-1,L-1,P-4,1,cash,2025-06-11\n`, '--dry-run');
  assert.doesNotMatch(file.err, /warning/);
});

test('a cooperative is entered, changed, and dissolved', async (context) => {
  const { place, browser } = await begin(context);
  const given = { code: 'C-3', name: 'Cyahafi Twitezimbere', sector: 'trading', status: 'active' };
  assert.match(await agree(browser, '/cooperatives/enter', given), /<h1>Cyahafi Twitezimbere<\/h1>/);
  const change = { name: 'Cyahafi Twitezimbere', sector: '', district: 'Huye', status: 'dissolved' };
  await agree(browser, '/cooperative/C-3/change', change);
  assert.deepEqual(place.query("SELECT sector, district, status FROM cooperatives WHERE code = 'C-3'"), [
    { sector: null, district: 'Huye', status: 'dissolved' },
  ]);
});

test('what has changed since it was shown is shown again, and nothing is entered', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/A-1/change';
  const given = { name: 'Abahuje Huye', district: 'Huye', sector: '', status: 'active' };
  const plan = await browser.post(path, { action: 'enter', ...given });
  await place.load('cooperatives', 'code,name\nA-1,Abahuje Twese\n');
  const again = await browser.post(path, { action: 'enter', ...given, expected: expectedIn(plan.text) });
  assert.equal(again.status, 200);
  assert.match(again.text, /The data has changed in the meantime[\s\S]*Abahuje Twese[\s\S]*Abahuje Huye/);
  assert.equal(place.value("SELECT name FROM cooperatives WHERE code = 'A-1'"), 'Abahuje Twese');
});

test('a new member whose number is taken in the cooperative changes nobody', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/A-1/enter/members';
  const given = { action: 'enter', identity_card: nid(1), member_code: 'M-9', full_name: 'Uwase Diane' };
  const refused = await browser.post(path, given);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /This code or number exists already[\s\S]*Keza Aline[\s\S]*Uwase Diane/);
  assert.match(refused.text, /See: <a href="\/person\/\d+">A-1 · M-1 · Keza Aline<\/a>/);
  assert.doesNotMatch(refused.text, /name="expected"/);
  assert.equal(place.value('SELECT full_name FROM members WHERE id = 1'), 'Keza Aline');
  // A code that somebody else has, likewise.
  const { text } = await browser.post(path, { ...given, identity_card: nid(3), member_code: 'M-2' });
  assert.match(text, /See: <a href="\/person\/\d+">A-1 · M-2 · Mukamana Esperance<\/a>/);
});

test('a payment that names its loan says who borrows, and places of cooperatives are proposed', async (context) => {
  const { browser } = await begin(context);
  const given = { loan_reference: 'L-1', amount: '50000', method: 'cash', paid_at: '2025-06-10' };
  const plan = await browser.post('/cooperative/A-1/enter/payments', { action: 'enter', ...given });
  assert.match(plan.text, /A-1 · M-1 · Keza Aline · L-1/);
  const { text } = await browser.get('/cooperatives/enter');
  assert.match(text, /list="proposed-district"[\s\S]*<option value="Huye"><\/option><\/datalist>/);
});

test('the pages of what was typed are recorded with the member, those of a cooperative with nobody', async (context) => {
  const place = await start(context);
  const ledger = memoryLedger();
  const browser = await (await testDesk(context, place.databaseFile, { ledger })).enter();
  const given = { member_code: 'M-2', delivered_at: '2025-05-25', kg: '1' };
  await browser.post('/cooperative/A-1/enter/production', { action: 'enter', ...given });
  await agree(browser, '/cooperatives/enter', { code: 'C-3', name: 'Cyahafi', status: 'active' });
  const before = ledger.readings.length;
  await browser.get('/imports/4');
  await browser.get('/imports/5');
  assert.deepEqual(
    ledger.readings.slice(before).map(({ subject }) => subject),
    [{ memberIds: [2] }],
  );
});

test('a changed weight leaves the time of a delivery as it was, which its field shows as a day', async (context) => {
  const { place, browser } = await begin(context);
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-1,P-1,2025-05-25T10:24:00+02:00,10\n',
  );
  const person = (await browser.find(nid(1))).path;
  const given = { delivered_at: '2025-05-25', kg: '11', product: '' };
  await agree(browser, `${person}/change/production/1`, given);
  assert.deepEqual(place.query('SELECT grams, delivered_at FROM production_entries'), [
    { grams: 11_000, delivered_at: Date.parse('2025-05-25T08:24:00Z') / 1000 },
  ]);
});

test('a row is changed, and another one added, whose stored texts would mean something else in a file', async (context) => {
  const { place, browser } = await begin(context);
  const references = ['-', 'N/A', "'5", '5', '#REF!', '="6"'];
  const quoted = (text: string) => text.replaceAll('"', '""');
  const asCell = (text: string) => `"${quoted(`="${quoted(text)}"`)}"`;
  const rows = references.map((reference) => `A-1,M-1,${asCell(reference)},2025-05-25,12\n`);
  await place.load('production', `cooperative_code,member_code,reference,delivered_at,kg\n${rows.join('')}`);
  const person = (await browser.find(nid(1))).path;
  for (const [i] of references.entries()) {
    const given = { delivered_at: '2025-05-25', kg: String(i + 1), product: '' };
    await agree(browser, `${person}/change/production/${i + 1}`, given);
  }
  assert.deepEqual(
    place.query('SELECT reference, grams FROM production_entries ORDER BY id'),
    references.map((reference, i) => ({ reference, grams: (i + 1) * 1000 })),
  );
  const header = 'cooperative_code,identity_card,member_code,full_name';
  await place.load('members', `${header}\nA-1,${nid(3)},${asCell('-')},Uwase Alice\n`);
  const { path } = await browser.find(nid(3));
  const given = { action: 'enter', delivered_at: '2025-05-25', kg: '7' };
  assert.equal((await browser.post(`${path}/enter/production/3`, given)).status, 200);
  await agree(browser, `${path}/enter/production/3`, given);
  assert.equal(place.value('SELECT grams FROM production_entries WHERE member_id = 3'), 7000);
});

test('what was paid back until a day includes the payments of that day, at any time', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/A-1/enter/loans';
  const loan = { member_code: 'M-1', amount: '5000', interest_rate: '18', status: 'approved' };
  const paid = { paid_amount: '1000', paid_until: '2025-05-31' };
  await agree(browser, path, { ...loan, ...paid, reference: 'L-2' });
  await agree(browser, path, { ...loan, ...paid, reference: 'L-3', paid_until: '2025-06-15' });
  const untils = place.query("SELECT paid_until AS at FROM loans WHERE reference > 'L-1' ORDER BY reference");
  assert.deepEqual(
    untils.map(({ at }) => new Date(Number(at) * 1000).toISOString()),
    ['2025-05-31T21:59:59.000Z', '2025-06-15T10:00:00.000Z'],
  );
  const person = (await browser.find(nid(1))).path;
  const changed = { ...loan, ...paid, paid_amount: '1200' };
  await agree(browser, `${person}/change/loans/2`, changed);
  assert.deepEqual(
    place.query('SELECT opening_balance_minor AS paid, paid_until AS at FROM loans WHERE id = 2'),
    [{ paid: 120_000, at: Date.parse('2025-05-31T21:59:59Z') / 1000 }],
  );
  const payments = 'cooperative_code,loan_reference,reference,amount,method,paid_at\n';
  const { status, out, err } = await place.load(
    'payments',
    `${payments}A-1,L-2,R-1,10,cash,2025-05-31T10:00\n`,
  );
  assert.equal(status, 1);
  assert.match(out + err, /Already counted in the opening balance/);
});

test('what was paid back until now is confirmed although time passes, for a new loan and a stored one', async (context) => {
  const { place, browser, clock } = await begin(context);
  const confirmLater = async (path: string, given: Fields) => {
    const plan = await browser.post(path, { action: 'enter', ...given });
    clock.advance(5_000);
    const done = await browser.post(path, { action: 'enter', ...given, expected: expectedIn(plan.text) });
    assert.equal(done.status, 303, done.text);
  };
  const paid = { amount: '400000', interest_rate: '18', paid_amount: '1000' };
  const terms = { ...paid, member_code: 'M-1', reference: 'L-2', status: 'approved' };
  await confirmLater('/cooperative/A-1/enter/loans', terms);
  const person = (await browser.find(nid(1))).path;
  const stored = { ...paid, status: 'pending', loan_start_date: '2025-03-01' };
  await confirmLater(`${person}/change/loans/1`, stored);
  assert.deepEqual(
    place.query('SELECT opening_balance_minor AS paid, paid_until - 1749981600 AS at FROM loans'),
    [
      { paid: 100_000, at: 10 },
      { paid: 100_000, at: 5 },
    ],
  );
});

test('codes are found as they are stored, though typed in small letters, and no advice of files is given', async (context) => {
  const { place, browser } = await begin(context);
  const path = '/cooperative/A-1/enter/production';
  const given = { action: 'enter', delivered_at: '2025-05-25', kg: '1' };
  assert.equal((await browser.post(path, { ...given, member_code: 'm-2' })).status, 303);
  assert.equal(place.value('SELECT member_id FROM production_entries'), 2);
  const refused = await browser.post(path, { ...given, member_code: 'm-9' });
  assert.match(refused.text, /The cooperative has no member with this code\./);
  assert.doesNotMatch(refused.text, /Import its members/);
  const code = { code: 'c-3', name: 'Cyahafi', status: 'active' };
  await agree(browser, '/cooperatives/enter', code);
  assert.equal(place.value("SELECT count(*) FROM cooperatives WHERE code = 'C-3'"), 1);
});

test('the code of a member who was merged leads to who stays', async (context) => {
  const { place, browser } = await begin(context);
  await place.command('members', 'merge', 'A-1/M-2', 'A-1/M-1', '--yes', '--reason', 'Registered twice');
  assert.match((await browser.find('M-2')).text, /<h1>Keza Aline<\/h1>/);
  const given = { action: 'enter', delivered_at: '2025-05-25', kg: '1', member_code: 'M-2' };
  const done = await browser.post('/cooperative/A-1/enter/production', given);
  assert.match((await browser.get(done.headers.location ?? '')).text, /A-1 · M-1 · Keza Aline, /);
});

test('an entry of before the cooperative is asked about, and a payment like a stored one', async (context) => {
  const { place, browser } = await begin(context);
  await place.load('cooperatives', 'code,name,registration_date\nA-1,Abahuje,2019-05-14\n');
  const given = { action: 'enter', member_code: 'M-1', kg: '1' };
  const path = '/cooperative/A-1/enter/production';
  const asked = await browser.post(path, { ...given, delivered_at: '1926-11-10' });
  assert.equal(asked.status, 200);
  assert.match(asked.text, /before the cooperative was registered, 14 May 2019\./);
  assert.equal((await browser.post(path, { ...given, delivered_at: '2019-05-14' })).status, 303);
  const loan = 'A-1,M-1,L-1,400000,18,approved,2025-03-01T10:24:00+02:00';
  await place.load(
    'loans',
    `cooperative_code,member_code,reference,amount,interest_rate,status,loan_start_date\n${loan}\n`,
  );
  const payment = { loan_reference: 'l-1', amount: '50000', method: 'cash', paid_at: '2025-06-10' };
  await agree(browser, '/cooperative/A-1/enter/payments', { ...payment, reference: 'P-1' });
  const again = { action: 'enter', ...payment, reference: 'P-2' };
  assert.match(
    (await browser.post('/cooperative/A-1/enter/payments', again)).text,
    /A payment of the same day and amount on this loan is recorded already: P-1\./,
  );
  const other = { ...again, amount: '50001' };
  assert.doesNotMatch(
    (await browser.post('/cooperative/A-1/enter/payments', other)).text,
    /recorded already/,
  );
});

test('the list of imports says whose each typed row is, and is recorded with them', async (context) => {
  const place = await start(context);
  const ledger = memoryLedger();
  const browser = await (await testDesk(context, place.databaseFile, { ledger })).enter();
  const given = { action: 'enter', member_code: 'M-2', delivered_at: '2025-05-25', kg: '1' };
  assert.doesNotMatch((await browser.get('/import')).text, /Mukamana/);
  const before = ledger.readings.length;
  await browser.post('/cooperative/A-1/enter/production', given);
  assert.match(
    (await browser.get('/import')).text,
    /A-1 · M-2 · Mukamana Esperance<\/a> 25 May 2025 · 1 kg<br>/,
  );
  assert.deepEqual(ledger.readings.slice(before).at(-1)?.subject, { memberIds: [2] });
});

test('an entry like a stored one is asked about, and one that is ten times as heavy as others', async (context) => {
  const { place, browser } = await begin(context);
  const rows = Array.from({ length: 10 }, (_, i) => `A-1,M-1,P-${i},2025-05-0${1 + (i % 9)},40`);
  await place.load(
    'production',
    `cooperative_code,member_code,reference,delivered_at,kg\n${rows.join('\n')}\n`,
  );
  const path = '/cooperative/A-1/enter/production';
  const given = { action: 'enter', member_code: 'M-1', delivered_at: '2025-05-25' };
  const heavy = await browser.post(path, { ...given, kg: '400.1' });
  assert.match(heavy.text, /more than ten times what a delivery here weighs on average, 40 kg\./);
  const equal = await browser.post(path, { ...given, delivered_at: '2025-05-02', kg: '40' });
  assert.match(equal.text, /An entry of the same day and amount of this member is recorded already\./);
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 10);
  assert.equal((await browser.post(path, { ...given, kg: '400' })).status, 303);
  const saving = { action: 'enter', member_code: 'M-1', account_number: 'S-1', kind: 'contribution' };
  const day = { amount: '5000', transacted_at: '2025-05-25' };
  const savings = '/cooperative/A-1/enter/savings';
  assert.equal((await browser.post(savings, { ...saving, ...day, reference: 'T-1' })).status, 303);
  const again = await browser.post(savings, { ...saving, ...day, reference: 'T-2' });
  assert.match(again.text, /An entry of the same day and amount/);
});
