/** Which keys make no sense: what `keys create` and `keys update` warn of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiKeyValues, NEW_KEY } from '../../src/access/api-keys.ts';
import { warningsOf } from '../../src/keys/key-text.ts';

const KEY: ApiKeyValues = {
  ...NEW_KEY,
  name: 'Bank',
  scopes: ['members:read'],
  limits: { perHour: 10, perDay: 10 },
};
const CONTEXT = { now: 100, others: [{ id: 4, name: 'UNION' }] };

const CASES: readonly [name: string, changed: Partial<ApiKeyValues>, warnings: readonly RegExp[]][] = [
  ['nothing', {}, []],
  ['an expiry now', { expiresAt: 100 }, [/^The key has expired already/]],
  ['an expiry later', { expiresAt: 101 }, []],
  ['a name that is taken, in other letters', { name: 'Union' }, [/^Key 4 has the same name\.$/]],
  ['an hour above the day', { limits: { perHour: 11, perDay: 10 } }, [/an hour, 11, is above .* a day, 10/]],
  ['financials alone', { scopes: ['members:financials'] }, [/^members:financials without members:read/]],
  ['financials with reading', { scopes: ['members:financials', 'members:read'] }, []],
  [
    'writing without reading',
    { scopes: ['members:read', 'members:write', 'loans:write', 'payments:write'] },
    [/^loans:write, payments:write without reading/],
  ],
  ['an export of what is read', { mayExport: true }, []],
  [
    'an export of nothing',
    { mayExport: true, scopes: ['webhooks:receive'] },
    [/^The key may export, but has no/],
  ],
  ['lookups only', { isLookupOnly: true, scopes: ['members:read', 'members:financials'] }, []],
  ['lookups only of cooperatives', { isLookupOnly: true, scopes: ['members:read', 'cooperatives:read'] }, []],
  [
    'lookups only with scopes that it closes',
    { isLookupOnly: true, scopes: ['members:read', 'loans:read', 'webhooks:receive'] },
    [/lookups only: it cannot use loans:read, webhooks:receive\.$/],
  ],
  [
    'lookups only with exports',
    { isLookupOnly: true, mayExport: true },
    [/lookups only: it cannot export anything/],
  ],
  ['a purpose', { purpose: 'audit' }, []],
  ['a purpose that is required', { requiresPurpose: true }, []],
  ['a purpose that no request leaves out', { purpose: 'audit', requiresPurpose: true }, [/never recorded/]],
  [
    'several things',
    { expiresAt: 1, name: 'union', limits: { perHour: 2, perDay: 1 } },
    [/expired/, /Key 4/, /an hour/],
  ],
];

for (const [name, changed, expected] of CASES)
  test(`a key is warned of: ${name}`, () => {
    const warnings = warningsOf({ ...KEY, ...changed }, CONTEXT);
    assert.equal(warnings.length, expected.length, warnings.join('\n'));
    for (const [i, pattern] of expected.entries()) assert.match(String(warnings[i]), pattern);
  });
