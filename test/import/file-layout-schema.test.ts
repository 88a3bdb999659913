/** The JSON Schema of map documents, and that it accepts what the import reads. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { cellContext } from '../../src/import/reading/cell-context.ts';
import { parseMap } from '../../src/import/reading/parse-map.ts';
import { IMPORT_COLUMNS } from '../../src/import/table/columns.ts';
import { IMPORT_KINDS, type ImportKind } from '../../src/registry/file-columns.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import {
  IMPORT_MAP_SCHEMA_FILE,
  importMapSchema,
  importMapSchemaText,
} from '../support/import-map-schema.ts';

const accepts = new Ajv2020({ strict: true, strictTypes: false }).compile(importMapSchema());
const cells = cellContext(KIGALI, 1_784_000_000);

/** The faults of a document that a schema can find. */
const NOT_OF_THE_SCHEMA = /Another heading|Another spelling|remove one of the two/;
function structuralFaults(document: object, kind: ImportKind): string[] {
  const faults = parseMap(JSON.stringify(document), { kind, cells });
  if ('kind' in faults) return [];
  return faults.map(({ message }) => message).filter((message) => !NOT_OF_THE_SCHEMA.test(message));
}

test('the committed import-map.schema.json is the one that the columns declare', () => {
  assert.equal(readFileSync(IMPORT_MAP_SCHEMA_FILE, 'utf8'), importMapSchemaText(), 'run npm run map-schema');
});

test('the schema accepts a map and refuses its open places, which an editor can therefore show', () => {
  const document = {
    kind: 'members',
    columns: { Izina: 'full_name', Umurenge: null },
    constants: { cooperative_code: 'KOAKAMA' },
    values: { status: { Démissionnaire: 'withdrawn' } },
    ...{ dates: 'dmy', decimal: ',', encoding: 'windows-1252', header_row: 4, sheet: '2026' },
  };
  assert.equal(accepts(document), true);
  for (const open of [
    { constants: { cooperative_code: null } },
    { values: { status: { Démissionnaire: null } } },
    { dates: null },
    { decimal: null },
  ])
    assert.equal(accepts({ ...document, ...open }), false, JSON.stringify(open));
});

/** Values that fit a constant of every column but those with choices. */
const CONSTANTS: { readonly [column: string]: string } = {
  cooperative_code: 'KOAKAMA',
  code: 'KOAKAMA',
  identity_card: '1198589000123042',
  mobile: '0781234567',
};

const arbitraryText = fc.oneof(
  fc.constantFrom('', ' ', 'Izina', 'IZINA', 'Statut', '#', '__proto__'),
  fc.string(),
);
const wrongValue = fc.oneof(
  fc.constantFrom(null, 1, true, '', ' ', 'nonsense'),
  fc.constant([]),
  fc.constant({}),
);
/** Mostly right, so that entire documents are right often enough. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: right, weight: 12 }, { arbitrary: wrongValue, weight: 1 });
const dictionary = (keys: fc.Arbitrary<string>, values: fc.Arbitrary<unknown>) =>
  fc.array(fc.tuple(keys, values), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));

function documentOf(kind: ImportKind): fc.Arbitrary<object> {
  const columns = IMPORT_COLUMNS[kind];
  const names = columns.map(({ name }) => name);
  const withWords = columns.filter(({ choices }) => choices !== undefined);
  const constant = fc.constantFrom(...columns).chain(({ name, choices }) => {
    const right = choices ?? [CONSTANTS[name] ?? (/date|_at$|_until$/.test(name) ? '2024-03-31' : '12.5')];
    // A wrong text is a fault of most columns, but one that a schema finds only among choices.
    const given = mostly(fc.constantFrom(...right)).filter(
      (value) => choices !== undefined || value !== 'nonsense',
    );
    return fc.tuple(mostly(fc.constant(name)).map(String), given);
  });
  const words = fc
    .constantFrom(...(withWords.length > 0 ? withWords : columns))
    .chain(({ name, choices }) =>
      fc.tuple(
        fc.constant(name),
        mostly(dictionary(arbitraryText, mostly(fc.constantFrom(...(choices ?? [name]))))),
      ),
    );
  return fc
    .record(
      {
        kind: fc.constant(kind),
        columns: mostly(dictionary(arbitraryText, mostly(fc.constantFrom(...names, null)))),
        constants: mostly(fc.array(constant, { maxLength: 3 }).map((entries) => Object.fromEntries(entries))),
        values: mostly(fc.array(words, { maxLength: 2 }).map((entries) => Object.fromEntries(entries))),
        dates: mostly(fc.constantFrom('dmy', 'mdy', 'ymd')),
        decimal: mostly(fc.constantFrom(',', '.')),
        encoding: mostly(fc.constantFrom('utf-8', 'windows-1252')),
        header_row: mostly(fc.oneof(fc.integer({ min: -1, max: 30 }), fc.double())),
        sheet: mostly(fc.string()),
        anything: fc.anything(),
      },
      { requiredKeys: ['kind'] },
    )
    .chain(({ anything, ...document }) =>
      fc.constantFrom(document, document, document, { ...document, anything }),
    );
}

for (const kind of IMPORT_KINDS) {
  test(`the schema accepts exactly the maps of ${kind} in which the import finds no fault`, () => {
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(documentOf(kind), (document) => {
        const plain = JSON.parse(JSON.stringify(document)) as object;
        const isAccepted = accepts(plain);
        if (isAccepted) accepted++;
        else refused++;
        const faults = structuralFaults(plain, kind);
        assert.equal(isAccepted, faults.length === 0, `${JSON.stringify(plain)}: ${faults}`);
      }),
      // Of the maps of production, one in fourteen is accepted: of 500, sometimes only 20 are.
      { numRuns: 1_000 },
    );
    assert.ok(accepted > 20 && refused > 20, `${accepted} accepted, ${refused} refused`);
  });
}
