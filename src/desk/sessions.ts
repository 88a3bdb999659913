/** Single-use links, and the sessions that they open (docs/desk.md#the-link). */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../runtime/scheduler.ts';
import { IDLE_MS, Numbers, type Session } from './screen.ts';

const LINK_MS = 60_000;
/** Milliseconds after its end during which a new link resumes a session: forms begun before still work. */
const RESUMED_MS = 12 * 3_600_000;
const SECRET_BYTES = 32;

interface Kept<T> {
  /** The secret itself is not stored. */
  readonly digest: Buffer;
  /** Monotonic milliseconds. */
  endsAtMs: number;
  readonly value: T;
}

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** Secrets of one purpose, each with its value and an end. */
class Secrets<T> {
  private kept: Kept<T>[] = [];
  private readonly clock: Clock;
  private readonly keptMs: number;

  /** @param keptMs milliseconds for which ended secrets are kept */
  constructor(clock: Clock, keptMs = 0) {
    [this.clock, this.keptMs] = [clock, keptMs];
  }

  issue(value: T, lifeMs: number): string {
    const secret = newSecret();
    this.kept.push({ digest: digestOf(secret), endsAtMs: this.clock.monotonicMs() + lifeMs, value });
    return secret;
  }

  /** Compares with each digest, in constant time. */
  find(secret: string): Kept<T> | undefined {
    const now = this.forget();
    const digest = digestOf(secret);
    return this.kept.filter((each) => each.endsAtMs > now && timingSafeEqual(each.digest, digest))[0];
  }

  /** Returns the kept secrets that have ended, latest first. */
  ended(): readonly Kept<T>[] {
    const now = this.forget();
    return this.kept.filter(({ endsAtMs }) => endsAtMs <= now).sort((a, b) => b.endsAtMs - a.endsAtMs);
  }

  /** @returns the current monotonic milliseconds */
  private forget(): number {
    const now = this.clock.monotonicMs();
    this.kept = this.kept.filter(({ endsAtMs }) => endsAtMs + this.keptMs > now);
    return now;
  }

  remove(found: Kept<T>): void {
    this.kept = this.kept.filter((each) => each !== found);
  }
}

/** Compares texts of any length in constant time. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digestOf(one), digestOf(other));

/** Range of the random start of a desk's numbers: those of two desks hardly ever overlap. */
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

  /** @param before number before the first; random, so that those of an earlier desk are different */
  constructor(clock: Clock, before = randomInt(FARTHEST_NUMBER)) {
    this.clock = clock;
    [this.nextPerson, this.nextSearch] = [counterFrom(before), counterFrom(before)];
    this.links = new Secrets(clock);
    this.sessions = new Secrets(clock, RESUMED_MS);
  }

  /**
   * @param user name under which the session's changes are recorded
   * @returns the last part of the link
   */
  issueLink(user: string): string {
    return this.links.issue(user, LINK_MS);
  }

  /** @returns the secret of a new or resumed session; undefined for a used, expired or unknown link */
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

  /** Finds the session of a cookie and extends its life. */
  find(secret: string): Session | undefined {
    const found = this.sessions.find(secret);
    if (found === undefined) return undefined;
    found.endsAtMs = this.clock.monotonicMs() + IDLE_MS;
    return found.value;
  }

  /** Ends a session, as when the user leaves the machine. It can be resumed like an expired one. */
  end(secret: string): void {
    const found = this.sessions.find(secret);
    if (found !== undefined) found.endsAtMs = this.clock.monotonicMs();
  }
}
