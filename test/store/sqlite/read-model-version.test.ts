/** The read model has a version, which changes with its rules. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_VERSION } from '../../../src/registry/stores/read-model.ts';
import { FORMAT } from '../../support/sqlite.ts';
import { fingerprintReadModel } from './read-model-sample.ts';

/** Of each version of the rules, the newest last; those of a release stay as they are. */
const FINGERPRINTS: { readonly [version: string]: string } = {
  '01': '1570bdb56a73ff91',
  '02': '5d0a0c752cd79292',
};

test('whoever changes a rule that decides what is stored takes a new version', () => {
  assert.equal(RULES_VERSION, Object.keys(FINGERPRINTS).at(-1));
  assert.equal(fingerprintReadModel(), FINGERPRINTS[RULES_VERSION], 'raise RULES_VERSION, and add a line');
  assert.equal(new Set(Object.values(FINGERPRINTS)).size, Object.keys(FINGERPRINTS).length);
  assert.match(FORMAT.version, /^[0-9]{2}\+02:00$/);
});
