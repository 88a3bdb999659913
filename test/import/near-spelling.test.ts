/** Which known name a misspelt one means. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from '../../src/import/reading/fold-and-misspellings.ts';

const NAMES = ['full_name', 'first_name', 'last_name', 'mobile', 'role', 'kg', 'member_code'] as const;

test('a letter too many, missing, wrong or swapped is a typo', () => {
  const given = ['mobilee', 'mobil', 'mobike', 'moblie', 'Full Name', 'fulname', 'memer_cod'];
  assert.deepEqual(
    given.map((name) => nearestName(name, NAMES)),
    ['mobile', 'mobile', 'mobile', 'mobile', 'full_name', 'full_name', 'member_code'],
  );
});

test('another word is no typo, and a short one must be exact', () => {
  for (const name of ['telephone', 'rate', 'rol', 'g', 'kg2', 'nom', 'mo', ''])
    assert.equal(nearestName(name, NAMES), undefined, name);
  assert.equal(nearestName('KG', NAMES), 'kg');
});

test('between two names that are equally near nothing is chosen, unless a third is nearer', () => {
  assert.equal(nearestName('hast_name', ['last_name', 'past_name']), undefined);
  assert.equal(nearestName('hast_name', ['last_name', 'past_name', 'hast_names']), undefined);
  assert.equal(nearestName('last_name', ['past_name', 'last_name', 'fast_name']), 'last_name');
});

test('any single typo in a longer name is found', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 5, maxLength: 12 });
  fc.assert(
    fc.property(letters, fc.nat(), fc.constantFrom(...'xyz'), (name, position, letter) => {
      const i = position % name.length;
      const [start, rest] = [name.slice(0, i), name.slice(i)];
      for (const typo of [start + letter + rest, start + rest.slice(1), start + letter + rest.slice(1)])
        assert.equal(nearestName(typo, [name]), name, typo);
    }),
  );
});
