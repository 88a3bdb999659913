/** Headings as cooperatives write them (docs/import-reference.md#headings). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import { foldHeading, foldPhrase } from '../../src/import/reading/fold-and-misspellings.ts';
import { IMPORT_COLUMNS } from '../../src/import/table/columns.ts';
import { headingsOf, recogniseHeadings, scoreHeader } from '../../src/import/table/header.ts';
import { BRACKETS, HEADINGS } from '../../src/import/table/known-headings.ts';
import { FILE_COLUMNS, IMPORT_KINDS, type ImportKind } from '../../src/registry/file-columns.ts';
import { inLanguage, LANGUAGES } from '../../src/values/language.ts';

const columnOf = (kind: ImportKind, heading: string) => recogniseHeadings(kind, [heading])[0]?.column;
const mapOf = (columns: Record<string, string | null>): FileLayout => ({
  ...{ kind: 'members', constants: new Map(), values: new Map() },
  columns: new Map(Object.entries(columns).map(([heading, column]) => [foldHeading(heading), column])),
});

test('within a kind, each heading of the dictionary leads to one column', () => {
  let looked = 0;
  for (const kind of IMPORT_KINDS) {
    const leadsTo = new Map<string, string>();
    for (const { name } of IMPORT_COLUMNS[kind]) {
      for (const heading of headingsOf(kind, name)) {
        for (const folded of new Set([foldHeading(heading), foldPhrase(heading)])) {
          assert.equal(leadsTo.get(folded) ?? name, name, `${kind}: ${heading}`);
          leadsTo.set(folded, name);
          looked++;
        }
        assert.equal(columnOf(kind, heading), name, `${kind}: ${heading}`);
      }
    }
  }
  assert.ok(looked > 500, `${looked} headings`);
});

test('a file may head its columns as the desk calls them, in each language', () => {
  let looked = 0;
  for (const kind of IMPORT_KINDS) {
    for (const { name, label, role } of FILE_COLUMNS[kind]) {
      for (const language of LANGUAGES) {
        const heading = inLanguage(label, language);
        assert.equal(columnOf(kind, heading), name, `${kind} ${role}: ${heading}`);
        looked++;
      }
    }
  }
  assert.ok(looked > 100, `${looked} labels`);
});

test('the dictionary has headings of columns that exist only, and none twice', () => {
  for (const kind of IMPORT_KINDS) {
    const known = IMPORT_COLUMNS[kind].map(({ name }) => name);
    assert.deepEqual(
      Object.keys(HEADINGS[kind]).filter((name) => !known.includes(name)),
      [],
      kind,
    );
    for (const [column, headings] of Object.entries(HEADINGS[kind])) {
      const folded = headings.map(foldPhrase);
      const twice = headings.filter((_, i) => folded.indexOf(folded[i] as string) !== i);
      assert.deepEqual(twice, [], `${kind} ${column}`);
      assert.ok(
        headings.every((heading) => /\p{L}/u.test(heading)),
        `${kind} ${column}`,
      );
    }
  }
  const columns = IMPORT_KINDS.flatMap((kind) => IMPORT_COLUMNS[kind].map(({ name }) => name));
  assert.deepEqual(
    Object.keys(BRACKETS).filter((name) => !columns.includes(name)),
    [],
  );
});

test('headings of three languages are recognised without regard to case, accents, spaces and punctuation', () => {
  const expected: [ImportKind, string, string][] = [
    ['members', 'INDANGAMUNTU', 'identity_card'],
    ['members', 'N° de la carte d’identité', 'identity_card'],
    ['members', 'No. CNI', 'identity_card'],
    ['members', 'I.D. Number', 'identity_card'],
    ['members', 'Nº y’indangamuntu', 'identity_card'],
    ['members', 'NOM ET PRENOMS', 'full_name'],
    ['members', 'Noms & Prénoms', 'full_name'],
    ['members', ' Amazina: ', 'full_name'],
    ['members', 'Numero ya terefone', 'mobile'],
    ['members', 'Tél.', 'mobile'],
    ['members', 'Sexe (M/F)', 'gender'],
    ['members', 'Italiki yinjiriyeho', 'registration_date'],
    ['members', 'Date d’adhésion (jj/mm/aaaa)', 'registration_date'],
    ['members', 'Member Code', 'member_code'],
    ['members', "Nomero y'umunyamuryango", 'member_code'],
    ['members', 'DateOfBirth', 'date_of_birth'],
    ['production', 'Quantité (Kg)', 'kg'],
    ['production', 'IBIRO', 'kg'],
    ['production', 'Date de\nlivraison', 'delivered_at'],
    ['loans', "Taux d'intérêt (%)", 'interest_rate'],
    ['loans', 'Montant (Frw)', 'amount'],
    ['loans', 'Imiterere', 'status'],
    ['loans', "Imiterere y'inguzanyo", 'status'],
    ['members', 'IMITERERE', 'status'],
    ['payments', "Nomero y'inyemezabwishyu", 'reference'],
    ['payments', 'Inomero y’inyemezabwishyu', 'reference'],
    ['savings', 'Konti', 'account_number'],
    ['cooperatives', 'Nom de la coopérative', 'name'],
  ];
  for (const [kind, heading, column] of expected) assert.equal(columnOf(kind, heading), column, heading);
});

test('a heading that may mean something else is not recognised', () => {
  const unknown: [ImportKind, string][] = [
    ['members', 'N°'],
    ['members', 'État civil'],
    ['members', 'Irangamimerere'],
    ['members', 'Coopérative'],
    ['payments', 'Ubwishyu'],
    ['members', 'Année de naissance'],
    ['members', 'Registration date (mm/dd/yyyy)'],
    ['production', 'Poids (tonnes)'],
    ['production', 'Quantité'],
    ['loans', 'Amount (USD)'],
    ['loans', 'Taux (par mois)'],
    ['cooperatives', 'Secteur'],
    ['cooperatives', 'Umurenge'],
  ];
  for (const [kind, heading] of unknown) assert.equal(columnOf(kind, heading), undefined, heading);
});

test('beside first names, the heading of a single name is the family name', () => {
  const columns = (...cells: string[]) => recogniseHeadings('members', cells).map(({ column }) => column);
  assert.deepEqual(columns('Nom', 'Prénom'), ['last_name', 'first_name']);
  assert.deepEqual(columns('Nom', 'NID'), ['full_name', 'identity_card']);
  assert.deepEqual(columns('Nom complet', 'Prénom'), ['full_name', 'first_name']);
  assert.deepEqual(columns('Nom', 'Prénom', 'last_name'), ['full_name', 'first_name', 'last_name']);
});

test('a map decides before names and dictionary, and ignores what it leads nowhere', () => {
  const map = mapOf({ 'izina ryuzuye': 'full_name', full_name: 'first_name', NID: null });
  const found = recogniseHeadings('members', ['IZINA RYUZUYE', 'full_name', 'N.I.D.', 'Sexe'], map);
  assert.deepEqual(
    found.map(({ column, by }) => [column, by]),
    [
      ['full_name', 'map'],
      ['first_name', 'map'],
      [null, 'map'],
      ['gender', 'dictionary'],
    ],
  );
});

test('the score of a row is the number of columns that it names', () => {
  assert.equal(scoreHeader('members', ['NID', 'Amazina', 'Umukono', '']), 2);
  assert.equal(scoreHeader('members', ['NID', 'Indangamuntu']), 1);
  assert.equal(scoreHeader('members', ['1198589000123042', 'Keza', 'M-1']), 0);
  assert.equal(scoreHeader('members', ['A', 'B'], mapOf({ A: 'full_name', B: null })), 2);
});
