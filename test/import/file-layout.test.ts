/** Map documents: what they say, and every fault of a wrong one (docs/import-reference.md#maps). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cellContext } from '../../src/import/reading/cell-context.ts';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import { type MapFault, parseMap } from '../../src/import/reading/parse-map.ts';
import type { ImportKind } from '../../src/registry/file-columns.ts';
import { KIGALI } from '../../src/values/date-time.ts';

const cells = cellContext(KIGALI, 1_784_000_000);
const parse = (text: string, kind: ImportKind = 'members', constants?: ReadonlyMap<string, string>) =>
  parseMap(text, { kind, cells, ...(constants && { constants }) });

function mapOf(document: object, kind: ImportKind = 'members'): FileLayout {
  const map = parse(JSON.stringify(document), kind);
  if ('kind' in map) return map;
  return assert.fail(JSON.stringify(map));
}

/** As `path: message`. */
function faultsOf(document: object | string, kind: ImportKind = 'members'): string[] {
  const faults = parse(typeof document === 'string' ? document : JSON.stringify(document), kind);
  return (Array.isArray(faults) ? (faults as MapFault[]) : []).map(
    ({ path, message }) => `${path}: ${message}`,
  );
}

test('a map says how headings, constants, words, dates, decimals, encoding and header are read', () => {
  const map = mapOf({
    kind: 'members',
    columns: { Izina: 'full_name', Umurenge: null },
    constants: { cooperative_code: 'KOAKAMA' },
    values: { status: { Démissionnaire: 'withdrawn' } },
    dates: 'dmy',
    decimal: ',',
    encoding: 'windows-1252',
    header_row: 4,
    sheet: '2026',
  });
  assert.deepEqual(map, {
    kind: 'members',
    columns: new Map([
      ['izina', 'full_name'],
      ['umurenge', null],
    ]),
    constants: new Map([['cooperative_code', 'KOAKAMA']]),
    values: new Map([['status', new Map([['demissionnaire', 'withdrawn']])]]),
    dates: 'dmy',
    decimal: ',',
    encoding: 'windows-1252',
    headerRow: 4,
    sheet: '2026',
  });
});

test('the map in the manual is a map', () => {
  const manual = readFileSync(new URL('../../docs/import-reference.md', import.meta.url), 'utf8');
  const [, example = ''] = /^## Maps$[\s\S]*?```json\n([\s\S]*?)```/m.exec(manual) ?? [];
  assert.deepEqual(faultsOf(example), []);
});

test('every key but the kind may be missing', () => {
  const empty = { columns: new Map(), constants: new Map(), values: new Map() };
  assert.deepEqual(mapOf({ kind: 'loans' }, 'loans'), { kind: 'loans', ...empty });
  assert.deepEqual(faultsOf({}), [': The map must name its kind: "kind": "members".']);
});

test('every fault of a map is reported at once, by its path', () => {
  assert.deepEqual(
    faultsOf({
      kind: 'members',
      columns: { Izina: 'fullname', 'Nom et prénom': 'nonsense', Umurenge: 7 },
      constants: { coop: 'KOAKAMA', cooperative_code: 'ko akama', status: 'gone', gender: null },
      values: { status: { Démissionnaire: 'WITHDRAWN', Parti: null }, mobile: {}, states: {} },
      dates: 'ddmmyyyy',
      decimal: null,
      encoding: 'utf8',
      header_row: 0,
      sheet: ' ',
      colums: {},
    }),
    [
      'colums: Unknown key "colums". Did you mean "columns"?',
      'columns.Izina: Unknown column "fullname". Did you mean "full_name"?',
      'columns["Nom et prénom"]: Unknown column "nonsense". Known: cooperative_code, identity_card, ' +
        'member_code, full_name, first_name, last_name, gender, date_of_birth, mobile, role, status, ' +
        'registration_date.',
      'columns.Umurenge: Expected the name of a column, or null to ignore the heading.',
      'constants.coop: Unknown column "coop". Known: cooperative_code, identity_card, member_code, ' +
        'full_name, first_name, last_name, gender, date_of_birth, mobile, role, status, registration_date.',
      'constants.cooperative_code: Use only the characters A-Z, 0-9 and "-".',
      'constants.status: Unknown value "gone". Known: active, inactive, suspended, withdrawn, deceased.',
      'constants.gender: Not chosen yet: replace null by "MALE", "FEMALE" or "OTHER".',
      'values.status.Démissionnaire: Unknown value "WITHDRAWN". Did you mean "withdrawn"?',
      'values.status.Parti: Not chosen yet: replace null by "active", "inactive", "suspended", ' +
        '"withdrawn" or "deceased".',
      'values.mobile: This column has no fixed words. Those that have: gender, role, status.',
      'values.states: Unknown column "states". Did you mean "status"?',
      'dates: Unknown value "ddmmyyyy". Known: dmy, mdy, ymd.',
      'decimal: Not chosen yet: replace null by "," or ".".',
      'encoding: Unknown value "utf8". Did you mean "utf-8"?',
      'header_row: Expected the number of a line, from 1 to 10000.',
      'sheet: Expected the name of a sheet.',
    ],
  );
});

test('a map of another kind is refused, and its other faults are those of its own kind', () => {
  assert.deepEqual(faultsOf({ kind: 'members', columns: { A: 'kg', B: 'gender' } }, 'production'), [
    'kind: This map is for members, not for production.',
    'columns.A: Unknown column "kg". Known: cooperative_code, identity_card, member_code, full_name, ' +
      'first_name, last_name, gender, date_of_birth, mobile, role, status, registration_date.',
  ]);
  assert.deepEqual(faultsOf({ kind: 'member' }), ['kind: Unknown value "member". Did you mean "members"?']);
});

test('two headings for one column are a fault, and so are two spellings that mean different things', () => {
  assert.deepEqual(faultsOf({ kind: 'members', columns: { Izina: 'full_name', Amazina: 'full_name' } }), [
    'columns.Amazina: Another heading is read as full_name, too.',
  ]);
  assert.deepEqual(faultsOf({ kind: 'members', columns: { Téléphone: 'mobile', TELEPHONE: null } }), [
    'columns.TELEPHONE: Another spelling of this heading is read as something else.',
  ]);
  const status = { Décédé: 'deceased', décédé: 'deceased', DECEDE: 'withdrawn' };
  assert.deepEqual(faultsOf({ kind: 'members', values: { status } }), [
    'values.status.DECEDE: Another spelling of this word means something else.',
  ]);
  const same = mapOf({ kind: 'members', columns: { Téléphone: 'mobile', 'TELEPHONE :': 'mobile' } });
  assert.deepEqual(same.columns, new Map([['telephone', 'mobile']]));
  assert.equal(mapOf({ kind: 'members', columns: { A: null, B: null } }).columns.size, 2);
});

test('a column has either a heading or a constant', () => {
  const document = { kind: 'members', columns: { Statut: 'status' }, constants: { status: 'active' } };
  assert.deepEqual(faultsOf(document), [
    'constants.status: A heading is read as this column, too: remove one of the two.',
  ]);
});

test('a constant is a value of its column', () => {
  const production = { delivered_at: '31/02/2024', kg: '12,500', product: ' ', member_code: 7 };
  assert.deepEqual(faultsOf({ kind: 'production', constants: production }, 'production'), [
    'constants.delivered_at: Date has wrong format. ' +
      'Write 2024-03-31, 31/03/2024 or 2024-03-31T08:30:00+02:00.',
    'constants.kg: It is unclear whether the comma separates thousands or decimals. Write 12500 or 12.500.',
    'constants.product: The value is empty.',
    'constants.member_code: Expected a text in quotes.',
  ]);
  const good = { delivered_at: '31/03/2024', kg: '12.5', product: 'Ikawa' };
  assert.equal(mapOf({ kind: 'production', constants: good }, 'production').constants.size, 3);
});

test('a constant of the command line wins over the one of the map, which may be open', () => {
  const given = new Map([['cooperative_code', 'A-1']]);
  for (const code of ['B-2', null]) {
    const map = parse(
      `{"kind":"members","constants":{"cooperative_code":${JSON.stringify(code)}}}`,
      'members',
      given,
    );
    assert.deepEqual('kind' in map && map.constants, given);
  }
});

test('a key that appears twice is a fault', () => {
  const text = '{"kind":"members","columns":{"Izina":"full_name","Izina":null},"kind":"members"}';
  assert.deepEqual(faultsOf(text), [
    'kind: This key appears twice.',
    'columns.Izina: This key appears twice.',
  ]);
});

test('what is not JSON is reported with line and column', () => {
  const cases: [string, string][] = [
    ['', 'a value is expected at line 1, column 1.'],
    ['{\n  "kind": "members"\n  "columns": {}\n}', 'a comma is expected at line 3, column 3.'],
    ['{"kind": "members",}', 'a key in double quotes is expected at line 1, column 20.'],
    ['{kind: "members"}', 'this is not expected here at line 1, column 2.'],
    ['// mine\n{"kind":"members"}', 'comments are not allowed at line 1, column 1.'],
    ['{"kind":"members"', 'a closing brace is expected at line 1, column 18.'],
    ['{"kind":"members"} x', 'this is not expected here at line 1, column 20.'],
  ];
  for (const [text, reason] of cases)
    assert.deepEqual(faultsOf(text), [`: The document is not JSON: ${reason}`], text);
  assert.deepEqual(faultsOf('['.repeat(200_000)), [': The document is nested too deeply.']);
});

test('a part that is not an object is a fault', () => {
  for (const text of ['[]', '7', 'null', '"members"'])
    assert.deepEqual(faultsOf(text), [': Expected an object: { … }.'], text);
  assert.deepEqual(faultsOf({ kind: 'members', columns: [], values: { status: 'active' } }), [
    'columns: Expected an object: { … }.',
    'values.status: Expected an object: { … }.',
  ]);
});

test('a name that every object inherits is a heading like any other', () => {
  const text = '{"kind":"members","columns":{"__proto__":"full_name","constructor":"mobile"}}';
  const map = parse(text);
  assert.deepEqual('kind' in map && [...map.columns.values()], ['full_name', 'mobile']);
  assert.deepEqual(faultsOf('{"kind":"members","toString":1}'), [
    'toString: Unknown key "toString". Known: kind, columns, constants, values, dates, decimal, encoding, ' +
      'header_row, sheet.',
  ]);
});

test('no fault repeats what may be a national ID', () => {
  const columns = { Izina: 'full_name', '1198589000123042': '1198589000123042' };
  const constants = { mobile: '1198589000123042', identity_card: '119858900012304' };
  const faults = faultsOf({ kind: 'members', columns, constants }).join('\n');
  assert.match(faults, /^columns\[#2\]: Unknown column\. Known: /);
  assert.match(faults, /constants\.identity_card: Expected a national ID of exactly 16 digits\./);
  assert.doesNotMatch(faults, /1198/);
});
