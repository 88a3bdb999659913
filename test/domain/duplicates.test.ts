/** Whether two members may be one person: their names, and what else they have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNames, judgePair, type Registered } from '../../src/people/likeness.ts';

test('names are alike in any order, case and accents, with initials, a missing word or one typo', () => {
  const cases: readonly (readonly [string, string, 'same' | 'similar' | undefined])[] = [
    ['Keza Aline', 'ALINÉ KEZA', 'same'],
    ["N'Dayisaba Jean", 'Ndayisaba Jean', 'same'],
    ['Keza', 'KEZA', 'same'],
    ['Keza Aline', 'Keza Aline Marie', 'similar'],
    ['Keza Aline', 'A. Keza', 'similar'],
    ['Jean Bosco Mugabo', 'J.B. Mugabo', 'similar'],
    ['Mugabo Jean', 'Mugbao Jean', 'similar'],
    ['Mugabo Jean', 'Mugabo Jeanne', undefined],
    ['Keza Aline', 'Keza Diane', undefined],
    ['Keza Aline', 'Keza B.', undefined],
    ['Keza Aline', 'Kezo Alina', undefined],
    ['Keza', 'Keza Aline', undefined],
    ['Person 12', 'Person 13', undefined],
    ['Ali Keza', 'Alo Keza', undefined],
    ['A. B.', 'A. Bosco', undefined],
    ['.', '.', undefined],
  ];
  for (const [one, other, expected] of cases) {
    assert.equal(compareNames(one, other), expected, `${one}, ${other}`);
    assert.equal(compareNames(other, one), expected, `${other}, ${one}`);
  }
});

const FIRST: Registered = {
  ...{ identityCard: '1198589000123042', fullName: 'Keza Aline', gender: 'FEMALE', cooperativeId: 1 },
  ...{ dateOfBirth: '1985-03-04', mobile: '+250781234567' },
};
const OTHER = { identityCard: '1199070456015099', mobile: '+250780000000', dateOfBirth: '1990-11-12' };
const ONE_DIGIT = '1198589000123043';
const SWAPPED = '1198589000213042';
const scoreOf = (change: Partial<Registered>): number | undefined =>
  judgePair(FIRST, { ...FIRST, ...change })?.score;

test('what two members have in common adds to the score, and what contradicts takes away', () => {
  const unknown = { gender: null, dateOfBirth: null, mobile: null, cooperativeId: 2 };
  assert.equal(scoreOf({ identityCard: ONE_DIGIT }), 100);
  assert.equal(scoreOf({ ...unknown, identityCard: ONE_DIGIT }), 65);
  assert.equal(scoreOf({ ...unknown, identityCard: SWAPPED }), 70);
  assert.equal(scoreOf({ ...unknown, identityCard: ONE_DIGIT, fullName: 'Keza A.' }), 55);
  assert.equal(scoreOf({ ...unknown, identityCard: ONE_DIGIT, cooperativeId: 1 }), 75);
  assert.equal(scoreOf({ ...unknown, identityCard: ONE_DIGIT, gender: 'MALE' }), 45);
  assert.equal(scoreOf({ ...unknown, identityCard: ONE_DIGIT, dateOfBirth: '1985-03-05' }), 65);
  assert.equal(scoreOf({ ...unknown, identityCard: ONE_DIGIT, dateOfBirth: '1990-11-12' }), undefined);
  assert.equal(scoreOf({ ...unknown, ...OTHER, mobile: FIRST.mobile, dateOfBirth: null }), 50);
  assert.equal(scoreOf({ ...OTHER, mobile: FIRST.mobile, cooperativeId: 2 }), undefined);
  assert.equal(scoreOf({ ...OTHER, dateOfBirth: FIRST.dateOfBirth }), 55);
});

test('one national ID, other names, and one name and birth in two cooperatives are no duplicates', () => {
  assert.equal(scoreOf({ cooperativeId: 2 }), undefined);
  // A twin.
  assert.equal(scoreOf({ identityCard: ONE_DIGIT, fullName: 'Keza Diane' }), undefined);
  assert.equal(scoreOf({ ...OTHER, dateOfBirth: FIRST.dateOfBirth, cooperativeId: 2 }), undefined);
  assert.equal(scoreOf({ ...OTHER, dateOfBirth: FIRST.dateOfBirth, fullName: 'Keza A.' }), undefined);
});

test('the reasons say in words what was found, without the values', () => {
  assert.deepEqual(
    judgePair(FIRST, { ...FIRST, identityCard: SWAPPED, dateOfBirth: '1990-11-12' })?.reasons,
    [
      'national IDs with two digits swapped',
      'same phone',
      'same name',
      'same cooperative',
      'but different dates of birth',
    ],
  );
});
