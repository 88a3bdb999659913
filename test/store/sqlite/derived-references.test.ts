/** Derived references stay as they are stored (docs/import-reference.md#entries-without-a-reference). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stagedColumns } from '../../../src/import/staging/staging-tables.ts';
import { openDerivation } from '../../../src/registry/stores/entry-store.ts';
import type { StagedValue } from '../../../src/values/declared-fields.ts';

const SECONDS = 1_740_780_000;
const DELIVERY = {
  ...{ cooperative_code: 'A-1', member_code: 'M-1', delivered_at: SECONDS, kg: 12_500 },
  ...{ product: 'coffee', full_name: 'Person 1' },
};
const TRANSACTION = {
  ...{ cooperative_code: 'A-1', identity_card: '1198589000001042', account_number: 'S-1' },
  ...{ kind: 'contribution', amount: 50_000, transacted_at: SECONDS },
};
const REFUSED = { rejectedFrom: 'sha256:0123456789abcdef' };

/** As the registries in use have them: never change these. */
const STORED = [
  ['production', DELIVERY, {}, 'auto-7d7bcf70111e168d9e53'],
  ['production', DELIVERY, REFUSED, 'auto-47825c573fa584b6484a'],
  ['savings', TRANSACTION, {}, 'auto-e13bc21716816ec162a8'],
] as const;

for (const [kind, row, origin, reference] of STORED) {
  const derive = (columns: readonly string[], given: { readonly [column: string]: StagedValue }) =>
    openDerivation(kind, columns)({ values: columns.map((column) => given[column] ?? null), ...origin });
  const columns = stagedColumns(kind).map(({ name }) => name);

  test(`${kind}: a row has the reference ${reference}, under which it is stored`, () => {
    assert.equal(derive(columns, row), reference);
  });

  test(`${kind}: a column that is added changes no reference, wherever it stands (${reference})`, () => {
    for (let place = 0; place <= columns.length; place++)
      assert.equal(derive(columns.toSpliced(place, 0, 'grade'), { ...row, grade: 'A' }), reference);
  });
}
