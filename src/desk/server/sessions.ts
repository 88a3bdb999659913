/** Links that work once, and the sessions that they open (docs/desk.md#the-link). */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { Numbers } from '../visit/numbers.ts';
import { IDLE_MS, type Session } from '../visit/screen.ts';

const LINK_MS = 60_000;
/** So long after its end its user may go on with a session by a new link: forms that were begun still fit. */
const RESUMED_MS = 12 * 3_600_000;
const SECRET_BYTES = 32;

interface Kept<T> {
  /** The secret itself is nowhere. */
  readonly digest: Buffer;
  /** On the clock that never steps back. */
  endsAtMs: number;
  readonly value: T;
}

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** Secrets of one purpose, each with what it stands for, until a moment. */
class Secrets<T> {
  private kept: Kept<T>[] = [];
  private readonly clock: Clock;
  private readonly keptMs: number;

  /** @param keptMs for how long what has ended is kept */
  constructor(clock: Clock, keptMs = 0) {
    [this.clock, this.keptMs] = [clock, keptMs];
  }

  issue(value: T, lifeMs: number): string {
    const secret = newSecret();
    this.kept.push({ digest: digestOf(secret), endsAtMs: this.clock.monotonicMs() + lifeMs, value });
    return secret;
  }

  /** Compares with each, in constant time. */
  find(secret: string): Kept<T> | undefined {
    const now = this.forget();
    const digest = digestOf(secret);
    return this.kept.filter((each) => each.endsAtMs > now && timingSafeEqual(each.digest, digest))[0];
  }

  /** What has ended and is kept, the last one first. */
  ended(): readonly Kept<T>[] {
    const now = this.forget();
    return this.kept.filter(({ endsAtMs }) => endsAtMs <= now).sort((a, b) => b.endsAtMs - a.endsAtMs);
  }

  /** @returns now */
  private forget(): number {
    const now = this.clock.monotonicMs();
    this.kept = this.kept.filter(({ endsAtMs }) => endsAtMs + this.keptMs > now);
    return now;
  }

  remove(found: Kept<T>): void {
    this.kept = this.kept.filter((each) => each !== found);
  }
}

/** In constant time, for texts of any length. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digestOf(one), digestOf(other));

/** Where the numbers of a desk begin, so far apart that those of two desks hardly meet. */
const FARTHEST_NUMBER = 1_000_000_000;

function counterFrom(before: number): () => number {
  let last = before;
  return () => ++last;
}

export class Sessions {
  private readonly links: Secrets<string>;
  private readonly sessions: Secrets<Session>;
  private readonly clock: Clock;
  private readonly nextPerson: () => number;
  private readonly nextSearch: () => number;

  /** @param before the first number of persons and searches: those of an earlier desk are others */
  constructor(clock: Clock, before = randomInt(FARTHEST_NUMBER)) {
    this.clock = clock;
    [this.nextPerson, this.nextSearch] = [counterFrom(before), counterFrom(before)];
    this.links = new Secrets(clock);
    this.sessions = new Secrets(clock, RESUMED_MS);
  }

  /** @param user under whom the changes of the session are recorded. @returns what the link ends with */
  issueLink(user: string): string {
    return this.links.issue(user, LINK_MS);
  }

  /** @returns the secret of a new session; undefined for a link that was used, is too old or never was */
  open(link: string): string | undefined {
    const found = this.links.find(link);
    if (found === undefined) return undefined;
    this.links.remove(found);
    const user = found.value;
    const ended = this.sessions.ended().find(({ value }) => value.user === user);
    if (ended !== undefined) {
      this.sessions.remove(ended);
      return this.sessions.issue(Object.assign(ended.value, { told: undefined, issued: undefined }), IDLE_MS);
    }
    const session = {
      user,
      token: newSecret(),
      told: undefined,
      issued: undefined,
      persons: new Numbers<string>(this.nextPerson),
      searches: new Numbers<string>(this.nextSearch),
    };
    return this.sessions.issue(session, IDLE_MS);
  }

  /** The session of a cookie, which lives on from now. */
  find(secret: string): Session | undefined {
    const found = this.sessions.find(secret);
    if (found === undefined) return undefined;
    found.endsAtMs = this.clock.monotonicMs() + IDLE_MS;
    return found.value;
  }

  /** Ends it, as when somebody leaves the machine: like one that nothing was asked of, it can be resumed. */
  end(secret: string): void {
    const found = this.sessions.find(secret);
    if (found !== undefined) found.endsAtMs = this.clock.monotonicMs();
  }
}
