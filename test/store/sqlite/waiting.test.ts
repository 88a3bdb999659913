/** What followers that wait cost: their number must not matter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { FeedPage, FeedRequest, RegistryEvent } from '../../../src/events/feed.ts';
import { WaitingFollowers } from '../../../src/events/waiting-followers.ts';

const empty = (after: number): FeedPage => ({ epoch: 'e', events: [], lastSequence: after });

const EVENT: RegistryEvent = {
  ...{ sequence: 1, type: 'loan.created', at: 0, id: 1, cooperativeId: 1, fieldsChanged: [], actor: 'key:1' },
};

function blockFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function start() {
  const state = { last: 0, looks: 0, pages: 0 };
  const feed = {
    lastSequence: () => state.last,
    read: ({ visible }: { readonly visible: readonly number[] | null }) => {
      state.pages++;
      return { ...empty(state.last), events: visible === null ? [EVENT] : [] };
    },
  };
  const followers = new WaitingFollowers(feed, (work) => {
    state.looks++;
    work();
  });
  const leaves: (() => void)[] = [];
  const add = (
    waitMs: number,
    request: Partial<
      FeedRequest & { readonly after: number; readonly visible: readonly number[] | null }
    > = {},
  ): Promise<FeedPage> => {
    const asked = { after: 0, limit: 100, epoch: undefined, visible: null, ...request };
    return followers.add(asked, empty(asked.after), waitMs, (leave) => void leaves.push(leave));
  };
  return { state, followers, add, leaves };
}

test('5,000 followers cost one page when something happens, and one look', async () => {
  const { state, followers, add } = start();
  const waiting = Array.from({ length: 5_000 }, (_, n) => add(1_000 * (1 + (n % 30))));
  state.last = 1;
  followers.wake();
  const pages = await Promise.all(waiting);
  assert.deepEqual([state.looks, state.pages, followers.size], [1, 1, 0]);
  assert.ok(pages.every((page) => page === pages[0] && page.lastSequence === 1));
});

test('answering many leaves room for other work, at the end of their time as well', async () => {
  const { state, followers, add } = start();
  const ways = [
    { waitMs: 1_000, last: 1, wakeUp: () => followers.wake() },
    { waitMs: 20, last: 0, wakeUp: () => blockFor(30) },
  ];
  for (const { waitMs, last, wakeUp } of ways) {
    let answered = 0;
    const waiting = Array.from({ length: 1_000 }, () => add(waitMs).then(() => answered++));
    state.last = last;
    wakeUp();
    let most = 0;
    for (let before = answered; answered < waiting.length; before = answered) {
      await immediate();
      most = Math.max(most, answered - before);
    }
    assert.ok(most <= 100, `${most} at once`);
  }
});

test('the end answers all: those who have read everything with an empty page', async () => {
  const { state, followers, add } = start();
  state.last = 5;
  const [behind, ahead] = [add(1_000, { after: 5 }), add(2_000, { after: 6 })];
  state.last = 6;
  followers.end();
  assert.equal(followers.size, 0);
  assert.deepEqual([(await behind).lastSequence, await ahead], [6, empty(6)]);
});

test('followers that have read differently far, or ask for other limits, get pages of their own', async () => {
  const { state, followers, add } = start();
  state.last = 5;
  const waiting = [add(1_000, { after: 5 }), add(1_000, { after: 5, limit: 2 }), add(2_000, { after: 5 })];
  const behind = add(1_000, { after: 6 });
  state.last = 6;
  followers.wake();
  const [first, second, third] = await Promise.all(waiting);
  assert.equal(first, third);
  assert.notEqual(first, second);
  assert.deepEqual([state.pages, followers.size], [2, 1]);
  state.last = 7;
  followers.wake();
  assert.equal((await behind).lastSequence, 7);
});

test('a follower that sees nothing gets no page of one that sees all, nor the other way round', async () => {
  const { state, followers, add } = start();
  const pairs: readonly (readonly [readonly number[] | null, readonly number[] | null])[] = [
    [null, []],
    [[], null],
  ];
  for (const [first, second] of pairs) {
    const before = state.pages;
    const waiting = [
      add(1_000, { after: state.last, visible: first }),
      add(1_000, { after: state.last, visible: second }),
    ];
    state.last++;
    followers.wake();
    assert.equal(state.pages, before + 2);
    followers.end();
    const [ofFirst, ofSecond] = await Promise.all(waiting);
    assert.notEqual(ofFirst, ofSecond);
  }
});

test('a follower of some types gets no page of one of all, nor of others, and goes on behind the rest', async () => {
  const { state, followers, add } = start();
  const asked = [undefined, ['loan.created'], ['loan.updated']] as const;
  const waiting = asked.map((types) => add(1_000, { types }));
  state.last = 1;
  followers.wake();
  assert.equal(state.pages, 3);
  assert.equal(new Set(await Promise.all(waiting)).size, 3);
  const unseen = add(1_000, { after: 1, visible: [] });
  state.last = 7;
  followers.end();
  assert.deepEqual(await unseen, empty(7));
});

test('the time of each follower ends on its own, whatever the order in which they came', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, add } = start();
  const ended: number[] = [];
  const all = [3_000, 1_000, 2_000, 1_000].map((ms) => add(ms).then(() => ended.push(ms)));
  let before = 0;
  for (const nowMs of [999, 1_000, 2_500, 3_000]) {
    context.mock.timers.tick(nowMs - before);
    before = nowMs;
    await immediate();
    assert.deepEqual(
      ended,
      [1_000, 1_000, 2_000, 3_000].filter((ms) => ms <= nowMs),
    );
  }
  await Promise.all(all);
  assert.equal(state.pages, 0);
});

test('there is one timer that looks while anybody waits, and none otherwise', async (context) => {
  const { state, followers, add, leaves } = start();
  const started = context.mock.method(globalThis, 'setInterval');
  const stopped = context.mock.method(globalThis, 'clearInterval');
  const waiting = Array.from({ length: 100 }, (_, n) => add(1_000 * (1 + n)));
  const looksBefore = state.looks;
  await sleep(260);
  assert.ok(state.looks - looksBefore <= 3, `${state.looks} looks`);
  assert.ok(state.looks > looksBefore);
  for (const leave of leaves) leave();
  assert.equal(followers.size, 0);
  const looks = state.looks;
  await sleep(150);
  assert.equal(state.looks, looks);
  assert.equal(started.mock.callCount(), 1);
  assert.equal(stopped.mock.calls.at(-1)?.arguments[0], started.mock.calls[0]?.result);
  await Promise.all(waiting);
  // A second call, when the response is sent, changes nothing.
  for (const leave of leaves) leave();
  assert.equal(followers.size, 0);
  followers.wake();
  assert.equal(state.looks, looks);
});

test('an error of the database reaches those who wait, not the process', async () => {
  const { state, followers, add } = start();
  const waiting = add(1_000);
  Object.defineProperty(state, 'looks', {
    set() {
      throw new Error('disk I/O error');
    },
    get: () => 0,
  });
  followers.wake();
  await assert.rejects(waiting, /disk I\/O error/);
  assert.equal(followers.size, 0);
});
