/** A step of the mirror, without a database and a registry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mirror, step } from '../src/follow.ts';
import { SHAPE } from '../src/tables.ts';

test('a kind is loaded again when its changed members have more entries than memory should hold', async () => {
  const [members, each] = [2_000, 500];
  const event = (sequence: number) => ({
    type: 'member.updated',
    timestamp: '2026-11-28T08:00:00+02:00',
    sequence,
    actor: 'import:1',
    data: { id: `${sequence}`, cooperative_id: '1', fields_changed: ['production_summary'] },
  });
  const state = { epoch: 'e', sequence: 0, loaded: {}, shape: SHAPE, current_at: new Date() };
  let stored: { loaded?: object; sequence?: number } = {};
  const database = {
    state: async () => state,
    query: async (text: string) => ({
      rows: text.includes('reltuples')
        ? [{ relname: 'deliveries', reltuples: members * each }]
        : text.includes('AS gone')
          ? [{ gone: 0 }]
          : [],
    }),
    transaction: (work: () => Promise<void>) => work(),
    setState: async (changes: object) => {
      stored = changes;
    },
  };
  let read = 0;
  const exported: string[] = [];
  const registry = {
    events: async () => {
      const results = Array.from({ length: members }, (_, i) => event(i + 1));
      return { epoch: 'e', results, last_sequence: members };
    },
    readAll: async () => {
      read += each;
      return { rows: Array.from({ length: each }, (_, i) => ({ id: `${read + i}` })) };
    },
    export: async (path: string) => {
      exported.push(path);
      return { epoch: 'e', sequence: members };
    },
  };
  const mirror = { database, registry, reloadRows: 20_000, log: () => {} } as unknown as Mirror;
  await step(mirror);
  assert.deepEqual(exported, ['/deliveries/export']);
  assert.ok(read < 200_000, `${read} rows were read`);
  assert.equal(stored.sequence, members);
  assert.deepEqual(stored.loaded, { deliveries: members });
});

// A pause by the clock would take longer.
const limit = { timeout: 30_000 };

test('a clock that is set back during a batch does not delay the next one', limit, async (context) => {
  const event = {
    type: 'member.updated',
    timestamp: '2026-11-28T08:00:00+02:00',
    sequence: 1,
    actor: 'key:1',
    data: { id: '1', cooperative_id: '1', fields_changed: ['mobile'] },
  };
  const state = { epoch: 'e', sequence: 0, loaded: { members: 1 }, shape: SHAPE, current_at: new Date() };
  const earlier = Date.now() - 45_000;
  let stored: { sequence?: number } = {};
  const database = {
    state: async () => state,
    query: async () => ({ rows: [] }),
    transaction: (work: () => Promise<void>) => work(),
    setState: async (changes: object) => {
      stored = changes;
      context.mock.method(Date, 'now', () => earlier);
    },
  };
  const registry = { events: async () => ({ epoch: 'e', results: [event], last_sequence: 1 }) };
  const mirror = { database, registry, reloadRows: 40, log: () => {} } as unknown as Mirror;
  await step(mirror);
  assert.equal(stored.sequence, 1);
});
