/**
 * When the service is overloaded: by the delay of the event loop, the time that whatever arrives has to
 * wait before anybody looks at it (docs/decisions/0031-overload.md). Decides only; it knows no timer.
 */

/** How often the event loop is to come by. */
export const SAMPLE_MS = 20;
/** It is late when it took longer than this. */
const LATE_MS = 50;
/** How long it has to be late, each time, until that counts as lasting. */
const INTERVAL_MS = 500;
/** One long call makes one late sample, however long it takes. */
const LEAST_SAMPLES = 3;
/**
 * While overloaded, what is read longer than this after the event loop last looked is refused. A response
 * leaves with the others of its iteration, so its client waits for about twice as long at most.
 */
const ADMITTING_MS = 50;
/** As many are admitted whatever the time is: the process itself may have been interrupted. */
const LEAST_ADMITTED = 24;
/** An overload is over when nothing had to be refused for so long: longer than a refused client is held. */
const CALM_MS = 3_500;

export class Overload {
  /** Whether the delay has lasted. */
  isLasting = false;
  private sampledMs: number;
  private polledMs: number;
  private samples = 0;
  private admitted = 0;
  /** Since when all samples were late. */
  private lateSinceMs: number | undefined;
  private refusedMs = Number.NEGATIVE_INFINITY;

  /** All times are monotonic milliseconds. */
  constructor(nowMs: number) {
    this.sampledMs = nowMs;
    this.polledMs = nowMs;
  }

  /** Called every SAMPLE_MS, or as soon after that as the event loop comes by. */
  sample(nowMs: number): void {
    if (this.isLasting) this.isLasting = nowMs - this.refusedMs < CALM_MS;
    else this.isLasting = this.isLateFor(nowMs - this.sampledMs, nowMs);
    this.sampledMs = nowMs;
  }

  private isLateFor(tookMs: number, nowMs: number): boolean {
    if (tookMs <= LATE_MS) {
      this.lateSinceMs = undefined;
      this.samples = 0;
      return false;
    }
    this.lateSinceMs ??= this.sampledMs;
    this.samples++;
    if (nowMs - this.lateSinceMs < INTERVAL_MS || this.samples < LEAST_SAMPLES) return false;
    this.lateSinceMs = undefined;
    this.samples = 0;
    // The first refusal may need some iterations.
    this.refusedMs = nowMs;
    return true;
  }

  /** Called when the event loop has read everything that it found when it looked. */
  polled(nowMs: number): void {
    this.polledMs = nowMs;
    this.admitted = 0;
  }

  /** Whether a request that is read now may have waited for too long, and those behind it longer. */
  refuses(nowMs: number): boolean {
    if (!this.isLasting) return false;
    if (nowMs - this.polledMs > ADMITTING_MS && this.admitted >= LEAST_ADMITTED) {
      this.refusedMs = nowMs;
      return true;
    }
    this.admitted++;
    return false;
  }
}
