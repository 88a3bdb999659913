/** Conformance of the sequence of changes: what followers read, and how they wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedRequest, RegistryEvent } from '../../../src/events/feed.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { type Engine, nextIteration, openPlace, openRegistry } from './engine.ts';
import { COOPERATIVE, MEMBER, memberOf } from './sample.ts';

const asked = (after: number, more: Partial<FeedRequest> = {}): FeedRequest => ({
  ...{ after, limit: 100, epoch: undefined },
  ...more,
});
const isGone = (error: unknown) =>
  error instanceof RegistryError && error.code === 'gone' && error.message === 'Start again from an export.';
const sequencesOf = (events: readonly RegistryEvent[]) => events.map(({ sequence }) => sequence);
const stays = () => undefined;

export function eventsConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;
  const open = (context: Parameters<typeof openRegistry>[0]) => {
    const { storage, elsewhere } = openPlace(engine, context);
    return { store: openRegistry(context, storage), other: openRegistry(context, elsewhere) };
  };

  test(title('a new registry has an epoch and no events'), async (context) => {
    const { store } = open(context);
    const { epoch, ...page } = await store.events.read(asked(0));
    assert.match(epoch, /^\S+$/);
    assert.deepEqual(page, { events: [], lastSequence: 0 });
    const { epoch: another } = await open(context).store.events.read(asked(0));
    assert.notEqual(another, epoch);
  });

  test(title('each change is an event, in the order of commits'), async (context) => {
    const { store } = open(context);
    await store.cooperatives.create(COOPERATIVE, 10, 'key:7');
    await store.members.create(MEMBER, 20, 'key:7');
    await store.members.update(
      1,
      () => ({ ...MEMBER, mobile: '+250781234567', role: 'TREASURER' }),
      30,
      'key:8',
    );
    await store.members.update(
      1,
      () => ({ ...MEMBER, mobile: '+250781234567', role: 'TREASURER' }),
      40,
      'key:8',
    );
    await nextIteration();
    const { events, lastSequence } = await store.events.read(asked(0));
    const of = { id: 1, cooperativeId: 1 };
    assert.deepEqual(events, [
      { ...of, sequence: 1, type: 'cooperative.created', at: 10, fieldsChanged: [], actor: 'key:7' },
      { ...of, sequence: 2, type: 'member.created', at: 20, fieldsChanged: [], actor: 'key:7' },
      {
        ...{ ...of, sequence: 3, type: 'member.updated', at: 30, actor: 'key:8' },
        fieldsChanged: ['mobile', 'role'],
      },
    ]);
    assert.equal(lastSequence, 3);
  });

  test(title('pages continue where the one before has ended'), async (context) => {
    const { store } = open(context);
    await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    await Promise.all([1, 2, 3, 4].map((n) => store.members.create(memberOf(n), 1, 'key:1')));
    await nextIteration();
    const first = await store.events.read(asked(0, { limit: 3 }));
    assert.deepEqual([sequencesOf(first.events), first.lastSequence], [[1, 2, 3], 3]);
    const second = await store.events.read(asked(first.lastSequence, { limit: 3, epoch: first.epoch }));
    assert.deepEqual([sequencesOf(second.events), second.lastSequence], [[4, 5], 5]);
    const third = await store.events.read(asked(5));
    assert.deepEqual([third.events, third.lastSequence], [[], 5]);
  });

  test(
    title('of some types only those come, and the position moves on behind the others'),
    async (context) => {
      const { store } = open(context);
      await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
      await Promise.all([1, 2, 3].map((n) => store.members.create(memberOf(n), 1, 'key:1')));
      await nextIteration();
      const types = ['member.created', 'loan.created'] as const;
      const first = await store.events.read(asked(0, { limit: 2, types }));
      assert.deepEqual([sequencesOf(first.events), first.lastSequence], [[2, 3], 3]);
      const second = await store.events.read(asked(3, { limit: 2, types }));
      assert.deepEqual([sequencesOf(second.events), second.lastSequence], [[4], 4]);
      const none = await store.events.read(asked(0, { types: ['loan.created'] }));
      assert.deepEqual([none.events, none.lastSequence], [[], 4]);

      const updates = store.events.wait(asked(0, { types: ['member.updated'] }), 20_000, stays);
      let leave: () => void = () => assert.fail('Nothing was registered.');
      const loans = store.events.wait(asked(0, { types: ['loan.created'] }), 20_000, (work) => {
        leave = work;
      });
      await store.members.create(memberOf(4), 1, 'key:1');
      await store.members.update(1, () => ({ ...memberOf(1), role: 'TREASURER' }), 2, 'key:1');
      const { events, lastSequence } = await updates;
      assert.deepEqual([sequencesOf(events), lastSequence], [[6], 6]);
      leave();
      assert.deepEqual([(await loans).events, (await loans).lastSequence], [[], 6]);
    },
  );

  test(title('another epoch and a number that was never reached are gone'), async (context) => {
    const { store } = open(context);
    await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    await nextIteration();
    for (const request of [asked(2), asked(0, { epoch: 'another' }), asked(Number.MAX_SAFE_INTEGER)]) {
      await assert.rejects(async () => store.events.read(request), isGone);
      await assert.rejects(async () => store.events.wait(request, 1_000, stays), isGone);
    }
  });

  test(
    title('a change of this process is answered at once, without a look at the clock'),
    async (context) => {
      const { store } = open(context);
      let isAnswered = false;
      const waiting = Promise.resolve(store.events.wait(asked(0), 20_000, stays)).then(() => {
        isAnswered = true;
      });
      await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
      await nextIteration();
      assert.ok(isAnswered);
      await waiting;
    },
  );

  test(title('who waits gets the next event, from this process and from another'), async (context) => {
    const { store, other } = open(context);
    const first = store.events.wait(asked(0), 20_000, stays);
    await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    assert.deepEqual(sequencesOf((await first).events), [1]);
    const second = store.events.wait(asked(1), 20_000, stays);
    await other.members.create(MEMBER, 1, 'key:1');
    assert.deepEqual(sequencesOf((await second).events), [2]);
    // What is there already is not waited for.
    const third = await store.events.wait(asked(0, { limit: 1 }), 20_000, stays);
    assert.deepEqual(sequencesOf(third.events), [1]);
  });

  test(title('who leaves is answered at once, with an empty page'), async (context) => {
    const { store } = open(context);
    let leave: () => void = () => assert.fail('Nothing was registered.');
    const waiting = store.events.wait(asked(0), 20_000, (work) => {
      leave = work;
    });
    leave();
    const { events, lastSequence } = await waiting;
    assert.deepEqual([events, lastSequence], [[], 0]);
  });

  test(
    title('the end answers all who wait with what there is, and nobody waits after it'),
    async (context) => {
      const { store, other } = open(context);
      const waiting = [0, 0].map(() => store.events.wait(asked(0), 20_000, stays));
      await other.cooperatives.create(COOPERATIVE, 1, 'key:1');
      await nextIteration();
      store.events.endWaits();
      for (const page of await Promise.all(waiting)) assert.deepEqual(sequencesOf(page.events), [1]);
      assert.deepEqual((await store.events.wait(asked(1), 20_000, stays)).events, []);
    },
  );

  test(title('closing answers all who wait'), async (context) => {
    const store = openRegistry(context, openPlace(engine, context).storage);
    const waiting = store.events.wait(asked(0), 20_000, stays);
    await store.close();
    assert.deepEqual((await waiting).events, []);
  });
}
