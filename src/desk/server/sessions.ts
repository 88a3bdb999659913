/** Links that work once, and the sessions that they open (docs/desk.md#the-link). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { Numbers } from '../visit/numbers.ts';
import type { Session } from '../visit/screen.ts';

const LINK_MS = 60_000;
/** Without a request a session ends. */
export const IDLE_MS = 30 * 60_000;
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

  constructor(clock: Clock) {
    this.clock = clock;
  }

  issue(value: T, lifeMs: number): string {
    const secret = newSecret();
    this.kept.push({ digest: digestOf(secret), endsAtMs: this.clock.monotonicMs() + lifeMs, value });
    return secret;
  }

  /** Compares with each, in constant time. */
  find(secret: string): Kept<T> | undefined {
    const now = this.clock.monotonicMs();
    this.kept = this.kept.filter(({ endsAtMs }) => endsAtMs > now);
    const digest = digestOf(secret);
    return this.kept.filter((each) => timingSafeEqual(each.digest, digest))[0];
  }

  remove(found: Kept<T>): void {
    this.kept = this.kept.filter((each) => each !== found);
  }
}

/** In constant time, for texts of any length. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digestOf(one), digestOf(other));

export class Sessions {
  private readonly links: Secrets<string>;
  private readonly sessions: Secrets<Session>;
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
    this.links = new Secrets(clock);
    this.sessions = new Secrets(clock);
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
    const session = {
      user: found.value,
      token: newSecret(),
      told: undefined,
      issued: undefined,
      persons: new Numbers<string>(),
      searches: new Numbers<string>(),
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

  /** Ends it, as when somebody leaves the machine. */
  end(secret: string): void {
    const found = this.sessions.find(secret);
    if (found !== undefined) this.sessions.remove(found);
  }
}
