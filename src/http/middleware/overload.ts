/**
 * When the service is asked too much: by the delay of the event loop, the time that whatever arrives has to
 * wait before anybody looks at it (docs/decisions/0031-overload.md). Decides only; it knows no timer.
 */

/** How often the event loop is to come by. */
export const SAMPLE_MS = 20;
/** It is late when it took longer than this, and calm when shorter; between the two, nothing changes. */
const LATE_MS = 80;
const CALM_MS = 35;
/** How long it has to be late, or calm, each time, until that counts as lasting. */
const INTERVAL_MS = 500;
/** One long call makes one late sample, however long it takes. */
const LEAST_SAMPLES = 3;
/**
 * While overloaded, what is read longer than this after the event loop last looked is refused. A response
 * leaves with the others of its iteration, so its client waits for about twice as long at most.
 */
const ADMITTING_MS = 50;
/** As many are admitted whatever the time is: the process itself may have been interrupted. */
const LEAST_ADMITTED = 16;

export class Overload {
  /** Whether the delay has lasted. */
  isLasting = false;
  /** Whether the last sample was. */
  isCalm = false;
  private sampledMs: number;
  private polledMs: number;
  private samples = 0;
  private admitted = 0;
  /** Since when all samples have spoken for a change: late ones while well, calm ones while overloaded. */
  private sinceMs: number | undefined;

  /** All times are monotonic milliseconds. */
  constructor(nowMs: number) {
    this.sampledMs = nowMs;
    this.polledMs = nowMs;
  }

  /** Called every SAMPLE_MS, or as soon after that as the event loop comes by. */
  sample(nowMs: number): void {
    const tookMs = nowMs - this.sampledMs;
    this.isCalm = tookMs < CALM_MS;
    const isForChange = this.isLasting ? this.isCalm : tookMs > LATE_MS;
    if (isForChange) {
      this.sinceMs ??= this.sampledMs;
      this.samples++;
    }
    this.sampledMs = nowMs;
    const isLongEnough = nowMs - (this.sinceMs ?? nowMs) >= INTERVAL_MS && this.samples >= LEAST_SAMPLES;
    if (isForChange && !isLongEnough) return;
    if (isForChange) this.isLasting = !this.isLasting;
    this.sinceMs = undefined;
    this.samples = 0;
  }

  /** Called when the event loop has read everything that it found when it looked. */
  polled(nowMs: number): void {
    this.polledMs = nowMs;
    this.admitted = 0;
  }

  /** Whether a request that is read now may have waited for too long, and those behind it longer. */
  refuses(nowMs: number): boolean {
    if (!this.isLasting) return false;
    if (nowMs - this.polledMs > ADMITTING_MS && this.admitted >= LEAST_ADMITTED) return true;
    this.admitted++;
    return false;
  }
}
