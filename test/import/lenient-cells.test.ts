/** Cells as people write them, read with a note (docs/import-reference.md#notes). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meaningsOf } from '../../src/import/reading/cell-context.ts';
import * as words from '../../src/import/reading/dictionary-words.ts';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import { foldHeading } from '../../src/import/reading/fold-and-misspellings.ts';
import { COOPERATIVE_STATUSES, SECTORS } from '../../src/registry/cooperatives.ts';
import { TRANSACTION_KINDS } from '../../src/registry/entries.ts';
import { LOAN_STATUSES } from '../../src/registry/loans.ts';
import { GENDERS, MEMBER_STATUSES, ROLES } from '../../src/registry/members.ts';
import { PAYMENT_METHODS, PAYMENT_STATUSES } from '../../src/registry/payments.ts';
import { CHOICE_LABELS } from '../../src/values/choice-labels.ts';
import { inLanguage, LANGUAGES } from '../../src/values/language.ts';
import { importText, MEMBERS_HEADER, nid, SAVINGS_HEADER, startedPlace } from '../support/importing.ts';

const MORE = 'gender,date_of_birth,mobile,role,status';
const row = (n: number, more: string) => `A-1,${nid(n)},M-${n},Person ${n},${more}`;
const file = (...rows: string[]) => `${[`${MEMBERS_HEADER},${MORE}`, ...rows].join('\n')}\n`;
const STORED = `SELECT ${MORE} FROM members WHERE id > 3 ORDER BY id`;
const NOTHING = { gender: null, date_of_birth: null, mobile: null, role: 'MEMBER', status: 'active' };

const DICTIONARIES: readonly [readonly string[], words.Words<string>][] = [
  [GENDERS, words.GENDER_WORDS],
  [MEMBER_STATUSES, words.MEMBER_STATUS_WORDS],
  [COOPERATIVE_STATUSES, words.COOPERATIVE_STATUS_WORDS],
  [LOAN_STATUSES, words.LOAN_STATUS_WORDS],
  [PAYMENT_METHODS, words.PAYMENT_METHOD_WORDS],
  [PAYMENT_STATUSES, words.PAYMENT_STATUS_WORDS],
  [ROLES, words.ROLE_WORDS],
  [SECTORS, words.SECTOR_WORDS],
  [TRANSACTION_KINDS, words.TRANSACTION_KIND_WORDS],
];

test('each word of a choice means one value of it', () => {
  // All but the table of them.
  assert.equal(DICTIONARIES.length, Object.keys(words).length - 1);
  for (const [choices, dictionary] of DICTIONARIES) {
    const meanings = meaningsOf(choices, dictionary);
    for (const choice of choices) {
      assert.equal(meanings.get(foldHeading(choice)), choice);
      const label = CHOICE_LABELS[choice];
      assert.ok(label !== undefined, choice);
      const labels = LANGUAGES.map((language) => inLanguage(label, language));
      for (const word of [...labels, ...(dictionary[choice] ?? [])])
        assert.equal(meanings.get(foldHeading(word)), choice, word);
    }
    assert.deepEqual(
      Object.keys(dictionary).filter((choice) => !choices.includes(choice)),
      [],
    );
  }
});

test('a word with a question mark is refused, as whoever wrote it was not certain', async (context) => {
  const place = await startedPlace(context);
  const content = file(row(9, 'female?,,,,active ?'));
  const { faults } = await importText(place, 'members', content);
  assert.deepEqual(
    faults.map(({ column }) => column),
    ['gender', 'status'],
  );
});

test('words of three languages are read with a note, forms of the registry without', async (context) => {
  const place = await startedPlace(context);
  const { report, notes } = await importText(
    place,
    'members',
    file(
      row(10, 'FÉMININ,,,Vice-Présidente,Décédée'),
      row(11, 'gore,,,President,Active'),
      row(12, 'umugabo,,,,'),
    ),
  );
  assert.equal(report.outcome, 'imported');
  assert.deepEqual(place.query(STORED), [
    { ...NOTHING, gender: 'FEMALE', role: 'VICE_PRESIDENT', status: 'deceased' },
    { ...NOTHING, gender: 'FEMALE', role: 'PRESIDENT' },
    { ...NOTHING, gender: 'MALE' },
  ]);
  assert.deepEqual(notes, ['word gender 2,4', 'word role 2', 'word status 2']);
});

test('an unknown word is a fault that names the known ones, and is shown only where it may be', async (context) => {
  const place = await startedPlace(context);
  const content = file(row(10, ',,,,Démissionnaire'), row(11, `,,,,${nid(1)}`));
  const { faults } = await importText(place, 'members', content);
  const known = 'Known: active, inactive, suspended, withdrawn, deceased.';
  assert.deepEqual(
    faults.map(({ line, message }) => [line, message]),
    [
      [2, `"Démissionnaire" is not a valid choice. ${known}`],
      [3, `Not a valid choice. ${known}`],
    ],
  );
});

test("a map's words decide before the dictionary, without a note", async (context) => {
  const place = await startedPlace(context);
  const map: FileLayout = {
    ...{ kind: 'members', columns: new Map(), constants: new Map() },
    values: new Map([
      [
        'status',
        new Map([
          ['demissionnaire', 'withdrawn'],
          ['actif', 'suspended'],
          ['-', 'inactive'],
        ]),
      ],
    ]),
  };
  const rows = ['Démissionnaire', 'ACTIF', '-'].map((status, i) => row(10 + i, `,,,,${status}`));
  const { notes } = await importText(place, 'members', file(...rows), { map });
  assert.deepEqual(
    place.query(STORED).map(({ status }) => status),
    ['withdrawn', 'suspended', 'inactive'],
  );
  assert.deepEqual(notes, []);
});

test('words for nothing empty an optional cell with a note, and a required one never', async (context) => {
  const place = await startedPlace(context);
  const rows = ['-,N/A,n/a,Néant,NTABYO', '–,—,--,n.a.,neant'].map((cells, i) => row(10 + i, cells));
  const { notes } = await importText(place, 'members', file(...rows));
  assert.deepEqual(place.query(STORED), [NOTHING, NOTHING]);
  assert.deepEqual(
    notes,
    MORE.split(',').map((column) => `empty_word ${column} 2,3`),
  );
  const { faults } = await importText(place, 'members', file(`A-1,-,M-13,Keza,,,,,`));
  assert.deepEqual(
    faults.map(({ column }) => column),
    ['identity_card'],
  );
});

test('a second telephone number is dropped with a note, and anything else beside the first is a fault', async (context) => {
  const place = await startedPlace(context);
  for (const [i, cell] of [
    '0788 123 456 / 0722 123 456',
    '0788123456;0722123456',
    '+250788123456 ou 0252 123 456',
    '788123456|722123456|733123456',
  ].entries()) {
    const { notes } = await importText(place, 'members', file(row(10 + i, `,,"${cell}",,`)));
    assert.deepEqual(notes, ['second_phone mobile 2'], cell);
    assert.equal(place.query(STORED)[i]?.mobile, '+250788123456');
  }
  for (const cell of ['0788123456 / Keza', '0788123456 0722123456', '12 / 0788123456', '0788123456/']) {
    const { faults } = await importText(place, 'members', file(row(20, `,,${cell},,`)));
    assert.deepEqual(
      faults.map(({ column, message }) => [column, message]),
      [['mobile', 'Enter a mobile number such as +250781234567.']],
      cell,
    );
  }
});

test('="…" and an apostrophe before digits are taken away with a note, in corrected rejects without', async (context) => {
  const place = await startedPlace(context);
  const header = `${MEMBERS_HEADER},mobile`;
  const rows = [`A-1,"=""${nid(10)}""",M-10,Keza,'0788123456`, `A-1,'${nid(11)},'A-11,'t Hooft,`];
  const { notes } = await importText(place, 'members', `${[header, ...rows].join('\n')}\n`);
  assert.deepEqual(
    place.query(
      `SELECT identity_card AS card, member_code AS code, full_name AS name, mobile
       FROM members WHERE id > 3`,
    ),
    [
      { card: nid(10), code: 'M-10', name: 'Keza', mobile: '+250788123456' },
      { card: nid(11), code: "'A-11", name: "'t Hooft", mobile: null },
    ],
  );
  assert.deepEqual(notes, ['spreadsheet_text identity_card 2,3', 'spreadsheet_text mobile 2']);
  const rejects = `${header},registry_faults\nA-1,"=""${nid(12)}""",M-12,Keza,,Wrong.\n`;
  const again = await importText(place, 'members', rejects, { isStrict: true });
  assert.deepEqual([again.report.outcome, again.notes], ['imported', []]);
});

test('with --strict, each lenient reading is a fault of its row', async (context) => {
  const place = await startedPlace(context);
  const { faults } = await importText(place, 'members', file(row(10, `homme,-,0788123456/0722123456,,`)), {
    isStrict: true,
  });
  assert.deepEqual(
    faults.map(({ line, column, message, refuses }) => [line, column, message, refuses]),
    [
      [2, 'gender', "Refused with --strict: the word is not one of the registry's.", 'row'],
      [2, 'date_of_birth', 'Refused with --strict: leave the cell empty.', 'row'],
      [2, 'mobile', 'Refused with --strict: the cell has several telephone numbers.', 'row'],
    ],
  );
});

test('the notes of a row of totals are not reported', async (context) => {
  const place = await startedPlace(context);
  const { notes } = await importText(place, 'savings', `${SAVINGS_HEADER}\nTotal,-,-,-,Retrait,"10,5",\n`);
  assert.deepEqual(notes, ['totals_row  2']);
});
