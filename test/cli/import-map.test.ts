/** `import map`: what it proposes, what it leaves open, and that it shows nobody's data. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COOPERATIVES, importPlace, nid } from '../support/importing.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const PEOPLE = [
  ...['Uwera Aline', 'Habimana Jean Bosco', 'Mukamana Claudine', 'Ndayisenga Eric'],
  ...['Iradukunda Grace', 'Nshuti Patrick', "N'Dori Solange", 'Ingabire Ange-Marie'],
];
const phone = (i: number) => `078812345${i}`;

/** As a cooperative sends it: titles, Windows-1252, its own words and headings. */
const FRENCH = Buffer.from(
  [
    'Coopérative des caféiculteurs;;;;;;;',
    ';;;;;;;',
    'N°;Code membre;Le membre;CNI;Sexe;Tél.;Statut;Né(e) le;Cellule',
    ...PEOPLE.map((name, i) => {
      const status = i === 3 ? 'Ailleurs' : 'active';
      const birth = `${i + 8}/${i + 1}/19${60 + i}`;
      return [
        i + 1,
        `M-${i}`,
        name,
        nid(i),
        i % 2 ? 'M' : 'F',
        i ? phone(i) : 'N/A',
        status,
        birth,
        'Kabeza',
      ].join(';');
    }),
    'Total;;8;;;;Somme;;',
  ].join('\r\n'),
  'latin1',
);

test('a map is proposed, with null where a person must decide, and works once that is filled in', async (t) => {
  const place = importPlace(t);
  await place.load('cooperatives', COOPERATIVES);
  const file = place.write('membres.csv', FRENCH);
  const map = join(place.folder, 'membres.map.json');
  const proposed = await place.run('map', 'members', file, '--out', map);
  assert.deepEqual(proposed, {
    status: 0,
    out: '',
    err: [
      'The header is on line 3.',
      '"Le membre" is read as full_name, guessed from its values: check it.',
      'Left null, which ignores the column: "N°", "Cellule".',
      'status: write what these words mean in place of null: "Ailleurs".',
      'cooperative_code: no heading gives it. Write the value of every row in place of null.',
    ]
      .map((remark) => `membres.csv: ${remark}\n`)
      .concat(`The map is in ${map}.\n`)
      .join(''),
  });
  const proposal = JSON.parse(readFileSync(map, 'utf8'));
  assert.deepEqual(proposal, {
    kind: 'members',
    columns: {
      'N°': null,
      'Code membre': 'member_code',
      'Le membre': 'full_name',
      CNI: 'identity_card',
      Sexe: 'gender',
      'Tél.': 'mobile',
      Statut: 'status',
      'Né(e) le': 'date_of_birth',
      Cellule: null,
    },
    constants: { cooperative_code: null },
    values: { status: { Ailleurs: null } },
    dates: 'dmy',
    encoding: 'windows-1252',
    header_row: 3,
  });

  const open = await place.run('members', file, '--map', map);
  assert.deepEqual(open, {
    status: 2,
    out: '',
    err:
      `${map}: constants.cooperative_code: Not chosen yet: replace null by the value that every row has.\n` +
      `${map}: values.status.Ailleurs: Not chosen yet: replace null by "active", "inactive", "suspended", ` +
      '"withdrawn" or "deceased".\n',
  });

  const constants = { cooperative_code: 'A-1' };
  const values = { status: { Ailleurs: 'withdrawn' } };
  writeFileSync(map, JSON.stringify({ ...proposal, constants, values }));
  const imported = await place.run('members', file, '--map', map);
  assert.equal(imported.status, 0, imported.err);
  assert.deepEqual(
    place.query('SELECT full_name, gender, status, date_of_birth, mobile FROM members WHERE id IN (1, 4)'),
    [
      {
        ...{ full_name: 'Uwera Aline', gender: 'FEMALE', status: 'active' },
        date_of_birth: '1960-01-08',
        mobile: null,
      },
      {
        ...{ full_name: 'Ndayisenga Eric', gender: 'MALE', status: 'withdrawn' },
        date_of_birth: '1963-04-11',
        mobile: '+250788123453',
      },
    ],
  );
});

test('a proposal without open places is a map as it is', async (t) => {
  const place = importPlace(t);
  await place.load('cooperatives', COOPERATIVES);
  const rows = PEOPLE.map((name, i) => `A-1,${name},${nid(i)},M-${i}`);
  const file = place.write(
    'list.csv',
    `cooperative_code,Uko yitwa,Ikarita,member_code\n${rows.join('\n')}\n`,
  );
  const { status, out, err } = await place.run('map', 'members', file);
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(out), {
    kind: 'members',
    columns: { 'Uko yitwa': 'full_name', Ikarita: 'identity_card' },
  });
  assert.match(err, /"Ikarita" is read as identity_card, guessed from its values: check it\.\n/);
  const { status: imported, err: faults } = await place.run(
    'members',
    file,
    '--map',
    place.write('map.json', out),
  );
  assert.equal(imported, 0, faults);
  assert.equal(place.value('SELECT count(*) FROM members'), PEOPLE.length);
});

test('with --json one document has the map, what was guessed, and what is open', async (t) => {
  const place = importPlace(t);
  const rows = PEOPLE.map((name, i) => `${name},${nid(i)},3/${i + 1}/2026,${i}`);
  const file = place.write('list.csv', `Uko yitwa,CNI,Date d'adhésion,Parcelles\n${rows.join('\n')}\n`);
  const { status, out, err } = await place.run('map', 'members', file, '--json');
  assert.deepEqual([status, err], [0, '']);
  assert.deepEqual(JSON.parse(out), {
    map: {
      kind: 'members',
      columns: {
        'Uko yitwa': 'full_name',
        CNI: 'identity_card',
        "Date d'adhésion": 'registration_date',
        Parcelles: null,
      },
      constants: { cooperative_code: null },
      dates: null,
    },
    header_line: 1,
    guessed: [{ heading: 'Uko yitwa', column: 'full_name', by: 'values' }],
    ignored: ['Parcelles'],
    unnamed: [],
    open: ['constants.cooperative_code', 'dates'],
    more_words: [],
    missing: ['member_code'],
  });
});

test('no national ID, name or phone number is shown, whatever the headings are', async (t) => {
  const place = importPlace(t);
  // In the column of statuses, too: as many words are somebody's data.
  const rows = PEOPLE.concat(
    PEOPLE.map((name) => `${name} Jr`),
    PEOPLE.map((name) => `${name} Sr`),
  ).map((name, i) => `${nid(i)},${name},${phone(i % 10)},${name}`);
  const files = {
    'headings.csv': `NID,Amazina,Telefoni,Statut\n${rows.join('\n')}`,
    'without.csv': rows.join('\n'),
    'codes.csv': PEOPLE.map((name, i) => `M-${i},${name}`).join('\n'),
    'one.csv': `${nid(1)},${phone(1)},A-1\n${nid(2)},${phone(2)},A-1\n`,
  };
  for (const [name, content] of Object.entries(files)) {
    for (const more of [[], ['--json']]) {
      const { out, err } = await place.run('map', 'members', place.write(name, content), ...more);
      for (const secret of ['1198', '0788', ...PEOPLE])
        assert.equal((out + err).includes(secret), false, `${name}: ${secret}`);
    }
  }
  const { out } = await place.run('map', 'members', join(place.folder, 'headings.csv'), '--json');
  assert.deepEqual(JSON.parse(out).more_words, ['status']);
});

test('a file without a header is refused with status 1', async (t) => {
  const place = importPlace(t);
  const rows = PEOPLE.map((name, i) => `${nid(i)},${name},${phone(i)}`);
  const file = place.write('without.csv', rows.join('\n'));
  assert.deepEqual(await place.run('map', 'members', file), {
    ...{ status: 1, out: '' },
    err: 'without.csv line 1: No row among the first 20 looks like headings.\n',
  });
});

test('headings that nobody knows are found by what is below them', async (t) => {
  const place = importPlace(t);
  const rows = PEOPLE.map((name, i) => `${name},${nid(i)}`);
  const file = place.write('unknown.csv', `Title,\nUko yitwa,Ikarita\n${rows.join('\n')}\n`);
  const { status, out } = await place.run('map', 'members', file);
  assert.equal(status, 0);
  assert.equal(JSON.parse(out).header_row, 2);
});

test('a heading that no map can name is named by its position', async (t) => {
  const place = importPlace(t);
  const rows = PEOPLE.map((name, i) => `${nid(i)},${name},a,b,c,d`);
  const file = place.write('list.csv', `NID,Amazina,Autre,AUTRE,119858,\n${rows.join('\n')}\n`);
  const { out, err } = await place.run('map', 'members', file);
  assert.deepEqual(JSON.parse(out).columns, { NID: 'identity_card', Amazina: 'full_name' });
  assert.match(err, /No map can name the headings in these positions, which are ignored: 3, 4, 5\./);
});

test('of a workbook the sheet with the header is taken, or the one that is asked for', async (t) => {
  const place = importPlace(t);
  const rows = (heading: string) =>
    rowsOf(['Liste'], ['CNI', heading], ...PEOPLE.map((name, i) => [nid(i), name]));
  const sheets = [
    { name: 'Notes', rows: rowsOf(['Rien ici']) },
    { name: '2026', rows: rows('Noms') },
    { name: '2025', rows: rows('Uko yitwa') },
  ];
  const file = place.write('list.xlsx', workbookOf({ sheets }));
  const found = await place.run('map', 'members', file);
  assert.deepEqual(JSON.parse(found.out), {
    kind: 'members',
    columns: { CNI: 'identity_card', Noms: 'full_name' },
    constants: { cooperative_code: null },
    header_row: 2,
  });
  const asked = await place.run('map', 'members', file, '--sheet', '2025');
  const { columns, sheet } = JSON.parse(asked.out);
  assert.deepEqual([columns, sheet], [{ CNI: 'identity_card', 'Uko yitwa': 'full_name' }, '2025']);
  const unknown = await place.run('map', 'members', file, '--sheet', '2024');
  assert.equal(unknown.status, 2);
  assert.match(unknown.err, /2026/);
});

test('--out replaces an earlier map and an empty file, and nothing else', async (t) => {
  const place = importPlace(t);
  await place.load('cooperatives', COOPERATIVES);
  const file = place.write('members.csv', `NID,Amazina\n${nid(1)},Uwera Aline\n`);
  for (const [name, content] of [
    ['empty.json', ''],
    ['earlier.json', '{"kind":"members","columns":{"NID":"nonsense"}}'],
    ['new.json', undefined],
  ] as const) {
    const out = content === undefined ? join(place.folder, name) : place.write(name, content);
    const { status, err } = await place.run('map', 'members', file, '--out', out);
    assert.equal(status, 0, err);
    assert.equal(JSON.parse(readFileSync(out, 'utf8')).kind, 'members');
  }
  const cases: [path: string, reason: string][] = [
    [place.write('notes.txt', 'mine'), 'already exists and is not a map'],
    [place.write('other.json', '{"kind":"members","mine":1}'), 'already exists and is not a map'],
    [place.write('list.json', '[]'), 'already exists and is not a map'],
    [file, 'is the file that the map is for'],
    [place.databaseFile, 'is a file of the registry'],
    [`${place.databaseFile}-wal`, 'is a file of the registry'],
    [place.folder, 'is not a file'],
  ];
  for (const [path, reason] of cases) {
    const { status, out, err } = await place.run('map', 'members', file, '--out', path);
    assert.deepEqual([status, out, err], [2, '', `${path} ${reason}. Choose another file for --out.\n`]);
  }
  assert.equal(readFileSync(join(place.folder, 'notes.txt'), 'utf8'), 'mine');
  const nowhere = await place.run('map', 'members', file, '--out', join(place.folder, 'no', 'map.json'));
  assert.deepEqual([nowhere.status, nowhere.err], [2, `There is no folder ${join(place.folder, 'no')}.\n`]);
});

test('a wrong command line is refused with status 2', async (t) => {
  const place = importPlace(t);
  const file = place.write('members.csv', 'NID\n');
  for (const args of [
    ['members'],
    ['people', file],
    ['members', join(place.folder, 'none.csv')],
    ['members', place.folder],
  ])
    assert.equal((await place.run('map', ...args)).status, 2, args.join(' '));
});

test('the help of import shows its subcommand, which does not take the place of a kind', async (t) => {
  const place = importPlace(t);
  const { out } = await place.run('--help');
  assert.match(out, /Usage: cooperative-registry import \[options\] \[command\] <kind-or-folder> \[file\]/);
  assert.match(out, /\n {2}map \[options\] <kind-or-file> \[file\] /);
  const { status } = await place.load('cooperatives', COOPERATIVES, '--json');
  assert.equal(status, 0);
});

test('without a kind it is guessed from the headings, whatever the file is called', async (context) => {
  const { write, run } = importPlace(context);
  const kinds = {
    'members-kinyarwanda.csv': 'members',
    'production-coffee-ledger.csv': 'production',
    'payments-french.csv': 'payments',
    'savings-unicode.csv': 'savings',
    'loans-workbook.xlsx': 'loans',
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const { out } = await run('map', write('x', readFileSync(`data/samples/${name}`)), '--json');
    assert.equal(JSON.parse(out).map.kind, kind, name);
  }
});
