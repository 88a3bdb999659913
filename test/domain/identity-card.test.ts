/** What may be a national ID in a text: it is hidden on screens and refused in reasons. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseReason } from '../../src/people/corrections/run-correction.ts';
import { FieldError } from '../../src/values/errors.ts';
import { hideIdentityCards } from '../../src/values/identity-card.ts';

const isRefused = (reason: string): boolean => parseReason(reason) instanceof FieldError;

test('a national ID is hidden and refused in reasons, whatever separates its groups', () => {
  for (const written of [
    ...['1198589000001042', '1 1985 8 9000001 0 42', '1198-5890-0000-1042', '1-1985-8-9000001-0-42'],
    ...['1\u00a01985\u00a08\u00a09000001\u00a00\u00a042', '1198589000001042-7'],
  ]) {
    assert.equal(hideIdentityCards(`Code ${written}, twice ${written}`), 'Code (hidden), twice (hidden)');
    assert.ok(isRefused(`Card ${written} was lost`) && isRefused(written), written);
  }
});

test('a telephone number, a date, a reference and a number of an account are shown and accepted', () => {
  for (const text of [
    ...['+250 781 234 567', '2025-06-15 to 2025-07-01', 'PROD-2025-000123', '1198-5890-0000-104'],
    ...['119858900000--1042', '11985890 / 00001042'],
  ]) {
    assert.equal(hideIdentityCards(text), text);
    assert.ok(!isRefused(text), text);
  }
});
