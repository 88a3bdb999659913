/** Single-use links, and the sessions that they open (docs/desk.md#the-link). */
import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../runtime/scheduler.ts';
import { Numbers, type Session } from './screen.ts';

export const IDLE_MS = 30 * 60_000;
/** Pages show a warning this long before the end of a session. */
export const WARNING_MS = 5 * 60_000;
const LINK_MS = 60_000;
/** For this long after the end of a session, a new link resumes it, so forms in open pages still work. */
const RESUMED_MS = 12 * 3_600_000;
const SECRET_BYTES = 32;

/**
 * Returns a function that measures the time since this call. Between two measurements, the clock that
 * advanced more counts: the monotonic clock of Linux stops while the machine is suspended, and the wall clock
 * may step back.
 */
function countMs(clock: Clock): () => number {
  let [wall, monotonic, passed] = [clock.now(), clock.monotonicMs(), 0];
  return () => {
    const [wallNow, monotonicNow] = [clock.now(), clock.monotonicMs()];
    passed += Math.max(wallNow - wall, monotonicNow - monotonic);
    [wall, monotonic] = [wallNow, monotonicNow];
    return passed;
  };
}

interface StoredSecret<T> {
  /** SHA-256 of the secret. */
  readonly digest: Buffer;
  /** As `countMs` measures time. */
  endsAtMs: number;
  readonly value: T;
}

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

class Secrets<T> {
  private stored: StoredSecret<T>[] = [];
  private readonly passedMs: () => number;
  private readonly resumableMs: number;

  /** @param resumableMs time for which `ended` returns an expired secret */
  constructor(passedMs: () => number, resumableMs = 0) {
    [this.passedMs, this.resumableMs] = [passedMs, resumableMs];
  }

  issue(value: T, lifeMs: number): string {
    const secret = newSecret();
    this.stored.push({ digest: digestOf(secret), endsAtMs: this.passedMs() + lifeMs, value });
    return secret;
  }

  /** Compares with all stored secrets, each in constant time. */
  find(secret: string): StoredSecret<T> | undefined {
    const now = this.removeExpired();
    const digest = digestOf(secret);
    return this.stored.filter((one) => one.endsAtMs > now && timingSafeEqual(one.digest, digest))[0];
  }

  /** Returns the secrets that can be resumed, the latest to expire first. */
  ended(): readonly StoredSecret<T>[] {
    const now = this.removeExpired();
    return this.stored.filter(({ endsAtMs }) => endsAtMs <= now).sort((a, b) => b.endsAtMs - a.endsAtMs);
  }

  /** @returns the current time of `passedMs` */
  private removeExpired(): number {
    const now = this.passedMs();
    this.stored = this.stored.filter(({ endsAtMs }) => endsAtMs + this.resumableMs > now);
    return now;
  }

  remove(secret: StoredSecret<T>): void {
    this.stored = this.stored.filter((one) => one !== secret);
  }
}

/** Compares texts of any length in constant time. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digestOf(one), digestOf(other));

/** So high that two desks rarely use the same number in an address. */
const FARTHEST_NUMBER = 1_000_000_000;

export class Sessions {
  private readonly links: Secrets<string>;
  private readonly sessions: Secrets<Session>;
  private readonly passedMs: () => number;
  private lastPerson: number;
  private lastSearch: number;

  constructor(clock: Clock, before = randomInt(FARTHEST_NUMBER)) {
    this.passedMs = countMs(clock);
    this.lastPerson = before;
    this.lastSearch = before;
    this.links = new Secrets(this.passedMs);
    this.sessions = new Secrets(this.passedMs, RESUMED_MS);
  }

  /** @returns the last part of the link */
  issueLink(user: string): string {
    return this.links.issue(user, LINK_MS);
  }

  /** @returns the secret of the session; undefined for a used, expired or unknown link */
  open(link: string): string | undefined {
    const issued = this.links.find(link);
    if (issued === undefined) return undefined;
    this.links.remove(issued);
    const user = issued.value;
    const ended = this.sessions.ended().find(({ value }) => value.user === user);
    if (ended !== undefined) this.sessions.remove(ended);
    const session = ended?.value ?? {
      user,
      token: newSecret(),
      persons: new Numbers(() => ++this.lastPerson),
      searches: new Numbers(() => ++this.lastSearch),
    };
    return this.sessions.issue(Object.assign(session, { notice: undefined, issued: undefined }), IDLE_MS);
  }

  /** Finds the session of a cookie, and postpones the end of the session. */
  find(secret: string): Session | undefined {
    const session = this.sessions.find(secret);
    if (session === undefined) return undefined;
    session.endsAtMs = this.passedMs() + IDLE_MS;
    return session.value;
  }

  /** Ends a session, which a new link can resume. */
  end(secret: string): void {
    const session = this.sessions.find(secret);
    if (session !== undefined) session.endsAtMs = this.passedMs();
  }
}
