/** Dates and date-times: what is read, what is refused with which text, and what is shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatDate,
  formatDateTime,
  KIGALI,
  parseDate,
  parseDateTime,
  parseTimeZone,
  type TimeZone,
} from '../../src/values/date-time.ts';
import { FieldError } from '../../src/values/errors.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

const zone = (text: string): TimeZone => {
  const parsed = parseTimeZone(text);
  if (parsed instanceof FieldError) throw new Error(parsed.message);
  return parsed;
};
const shown = (text: string, inZone = KIGALI): string => {
  const parsed = parseDateTime(text, inZone);
  return typeof parsed === 'number' ? formatDateTime(parsed, inZone) : parsed.message;
};
const EARLY = 'Dates before 1850-01-01 are not accepted.';
const LATE = 'Dates after 9999-12-31 are not accepted.';
const WRONG =
  'Datetime has wrong format. Use one of these formats instead: ' +
  'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';

test('a date before 1850 is refused with the earliest date, one that does not exist with the format', () => {
  assert.equal(parseDate('1850-01-01'), '1850-01-01');
  for (const text of ['1849-12-31', '0001-01-01', '0000-02-29', '0050-06-01'])
    assert.equal((parseDate(text) as FieldError).message, EARLY, text);
  for (const text of ['1849-02-29', '2023-02-29', '2023-00-10', '2023-13-01', '2023-1-01', '02023-01-01']) {
    assert.match((parseDate(text) as FieldError).message, /^Date has wrong format/, text);
  }
});

test('the earliest and the latest date-time are those of the registry’s zone', () => {
  assert.equal(shown('1850-01-01T00:00:00+02:00'), '1850-01-01T00:00:00+02:00');
  assert.equal(shown('1850-01-01T00:00:00+14:00'), EARLY);
  assert.equal(shown('1849-12-31T23:59:59+02:00'), EARLY);
  assert.equal(shown('1849-12-31T23:00:00-05:00'), '1850-01-01T06:00:00+02:00');
  assert.equal(shown('1849-12-31'), EARLY);
  assert.equal(shown('9999-12-31T23:59:59+02:00'), '9999-12-31T23:59:59+02:00');
  assert.equal(shown('9999-12-31T23:59:59-05:00'), LATE);
  assert.equal(shown('9999-12-31T22:00:00Z'), LATE);
  assert.equal(shown('9999-12-31T22:00:00Z', zone('Z')), '9999-12-31T22:00:00+00:00');
});

test('whatever is read is shown with four digits of a year from 1850 on, and read back as the same instant', () => {
  const two = (n: number) => String(n).padStart(2, '0');
  const offset = fc
    .tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59))
    .map(([sign, hours, minutes]) => `${sign}${two(hours)}:${two(minutes)}`);
  const year = fc.oneof(
    fc.integer({ min: 1848, max: 1851 }),
    fc.integer({ min: 9998, max: 9999 }),
    fc.nat(9999),
  );
  fc.assert(
    fc.property(
      year,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 31 }),
      offset,
      offset,
      (y, m, d, given, own) => {
        const inZone = zone(own);
        const parsed = parseDateTime(
          `${String(y).padStart(4, '0')}-${two(m)}-${two(d)}T${two(d % 24)}:30:00${given}`,
          inZone,
        );
        if (parsed instanceof FieldError) return;
        const text = formatDateTime(parsed, inZone);
        assert.match(text, /^(?:18[5-9]|19|[2-9][0-9])[0-9]{1,2}-/);
        assert.equal(text.length, 25);
        assert.equal(parseDateTime(text, inZone), parsed);
        assert.equal(Date.parse(text) / 1000, parsed);
        assert.equal(text.slice(0, 10), formatDate(parsed, inZone));
      },
    ),
    { numRuns: quickOrLong(300, 2_000) },
  );
});

test('date-times of RFC 3339 are read: lower-case t and z, fractions of any length, leap seconds', () => {
  const expected = '2025-03-01T10:30:15+02:00';
  for (const text of [
    '2025-03-01T08:30:15Z',
    '2025-03-01t08:30:15z',
    '2025-03-01T08:30:15.1234567890123Z',
    '2025-03-01t10:30:15.5+02:00',
    '2025-03-01 10:30:15',
    '2025-03-01T10:30:15,5+0200',
  ])
    assert.equal(shown(text), expected, text);
  assert.equal(shown('2016-12-31T23:59:60Z'), '2017-01-01T02:00:00+02:00');
  assert.equal(shown('2017-01-01T01:59:60.75+02:00'), '2017-01-01T02:00:00+02:00');
  for (const text of [
    '2016-12-31T23:59:60+02:00',
    '2016-12-31T12:00:60Z',
    '2016-12-31T23:59:61Z',
    '2016-12-31T24:00:00Z',
  ])
    assert.equal(shown(text), WRONG, text);
});
