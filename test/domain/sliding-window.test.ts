/** The limiter against a model that keeps every admitted request (docs/api.md#rate-limits). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type RateLimits, SlidingWindowLog } from '../../src/access/rate-limiter.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

const HOUR = 3_600_000;
const DAY = 86_400_000;

/** The rule as it is written: in no window `(t − w, t]` are more than n requests admitted. */
class NaiveModel {
  private readonly times: number[] = [];

  inWindow(windowMs: number, nowMs: number): number[] {
    return this.times.filter((time) => time > nowMs - windowMs && time <= nowMs);
  }

  mayAdmit(limits: RateLimits, nowMs: number, count: number): boolean {
    return (
      this.inWindow(HOUR, nowMs).length + count <= limits.perHour &&
      this.inWindow(DAY, nowMs).length + count <= limits.perDay
    );
  }

  admit(nowMs: number, count: number): void {
    for (let i = 0; i < count; i++) this.times.push(nowMs);
  }

  /** The smallest wait after which a request would be admitted: tries each moment at which one expires. */
  waitMs(limits: RateLimits, nowMs: number, count: number): number {
    const leaving = this.times.flatMap((time) => [time + HOUR, time + DAY]).filter((time) => time >= nowMs);
    const moments = [nowMs, ...leaving].sort((a, b) => a - b);
    return (moments.find((moment) => this.mayAdmit(limits, moment, count)) ?? Number.NaN) - nowMs;
  }

  resetMs(limit: number, windowMs: number, nowMs: number): number {
    const inside = this.inWindow(windowMs, nowMs);
    if (inside.length === 0) return 0;
    const left = Math.max(0, limit - inside.length);
    const moment = inside
      .map((time) => time + windowMs)
      .sort((a, b) => a - b)
      .find((each) => limit - inside.filter((time) => time > each - windowMs).length > left);
    return (moment ?? Number.NaN) - nowMs;
  }
}

const gap = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, HOUR - 1, HOUR, HOUR + 1, DAY - 1, DAY, DAY + 1) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 1_200_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 * DAY }) },
);
const limits = fc.record({
  perHour: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 20 }),
});
const step = fc.record({
  gap,
  changed: fc.option(limits, { freq: 12 }),
  together: fc.integer({ min: 1, max: 4 }),
});

test('in no window are more than n admitted, and none is refused while fewer were, in random cases', () => {
  fc.assert(
    fc.property(limits, fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), (first, steps) => {
      const windows = new SlidingWindowLog();
      const model = new NaiveModel();
      let current: RateLimits = first;
      let nowMs = 5_000;
      for (const { gap: passed, changed, together } of steps) {
        nowMs += passed;
        current = changed ?? current;
        const count = Math.min(together, current.perHour, current.perDay);
        const mayAdmit = model.mayAdmit(current, nowMs, count);
        const waitMs = mayAdmit ? 0 : model.waitMs(current, nowMs, count);
        const decision = windows.take(current, nowMs, count);
        assert.equal(decision.admitted, mayAdmit);
        assert.equal(decision.waitMs, waitMs);
        if (mayAdmit) model.admit(nowMs, count);
        for (const [usage, limit, windowMs] of [
          [decision.hour, current.perHour, HOUR],
          [decision.day, current.perDay, DAY],
        ] as const) {
          assert.equal(usage.remaining, Math.max(0, limit - model.inWindow(windowMs, nowMs).length));
          assert.equal(usage.resetMs, model.resetMs(limit, windowMs, nowMs));
        }
      }
    }),
    { numRuns: quickOrLong(1_000, 20_000) },
  );
});

test('a request after the reported wait is admitted, and one a millisecond before it is not', () => {
  const windows = new SlidingWindowLog();
  const two = { perHour: 2, perDay: 10 };
  windows.take(two, 0);
  windows.take(two, 600_000);
  const { waitMs } = windows.take(two, 700_000);
  assert.equal(waitMs, HOUR - 700_000);
  assert.equal(windows.take(two, 700_000 + waitMs - 1).admitted, false);
  assert.equal(windows.take(two, 700_000 + waitMs).admitted, true);
});

test('a refusal by one window takes nothing from the other', () => {
  const windows = new SlidingWindowLog();
  const one = { perHour: 1, perDay: 3 };
  assert.equal(windows.take(one, 0).day.remaining, 2);
  for (let i = 1; i <= 50; i++) assert.equal(windows.take(one, i).day.remaining, 2);
});

test('when both windows refuse, the longer wait wins', () => {
  const windows = new SlidingWindowLog();
  const one = { perHour: 1, perDay: 1 };
  windows.take(one, 0);
  assert.equal(windows.take(one, 1_000).waitMs, DAY - 1_000);
});

test('usage counts nothing', () => {
  const windows = new SlidingWindowLog();
  const few = { perHour: 2, perDay: 2 };
  windows.take(few, 0);
  for (let i = 0; i < 5; i++) assert.equal(windows.usage(few, 10).hour.remaining, 1);
});

test('ten thousand requests in a burst are counted one by one', () => {
  const windows = new SlidingWindowLog();
  const many = { perHour: 10_000, perDay: 10_000 };
  for (let i = 0; i < 10_000; i++) assert.equal(windows.take(many, i).hour.remaining, 9_999 - i);
  assert.equal(windows.take(many, 10_000).admitted, false);
  assert.equal(windows.take(many, DAY).admitted, true);
  assert.equal(windows.take(many, DAY).admitted, false);
});
