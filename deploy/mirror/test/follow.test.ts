/** A step of the mirror, without a database and a registry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mirror, step } from '../src/follow.ts';
import { SHAPE } from '../src/tables.ts';

test('a clock that is set back during a batch does not delay the next one', async (context) => {
  const event = {
    type: 'member.updated',
    timestamp: '2026-11-28T08:00:00+02:00',
    sequence: 1,
    actor: 'key:1',
    data: { id: '1', cooperative_id: '1', fields_changed: ['mobile'] },
  };
  const state = { epoch: 'e', sequence: 0, loaded: { members: 1 }, shape: SHAPE, current_at: new Date() };
  const now = Date.now();
  const database = {
    state: async () => state,
    query: async () => ({ rows: [] }),
    transaction: (work: () => Promise<void>) => work(),
    setState: async () => {
      context.mock.method(Date, 'now', () => now - 5_000);
    },
  };
  const registry = { events: async () => ({ epoch: 'e', results: [event], last_sequence: 1 }) };
  const mirror = { database, registry, reloadRows: 40, log: () => {} } as unknown as Mirror;
  const started = performance.now();
  await step(mirror);
  assert.ok(performance.now() - started < 2_500);
});
