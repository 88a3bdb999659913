/**
 * Refuses requests that cannot be answered in time, before they cost more than a refusal
 * (docs/operating.md#overload).
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/scheduler.ts';
import { type AddressBlocks, parseAddress } from '../../values/address-blocks.ts';
import { hasBody } from '../declare/request-body.ts';
import { type ApiResponse, refusal } from '../declare/response.ts';
import type { ApiRequest } from '../declare/route.ts';

// Detection of overload by the event loop's delay: the time that arriving requests wait to be read
// (docs/decisions/0031-overload.md). Only decides; sets no timers.

/** Milliseconds between samples of the event loop. */
export const SAMPLE_MS = 20;
/** A sample that took longer than this is late. */
const LATE_MS = 50;
/** Milliseconds with late samples only, after which the service counts as overloaded. */
const INTERVAL_MS = 500;
/** Minimum number of late samples: a single long call makes one. */
const LEAST_SAMPLES = 3;
/**
 * While overloaded, requests read later than this many milliseconds after the event loop last polled are
 * refused. A response leaves with the others of its iteration, so its client waits about twice as long at
 * most.
 */
const ADMITTING_MS = 50;
/** Requests admitted in each iteration whatever the time: the process itself may have been suspended. */
const LEAST_ADMITTED = 24;
/** Milliseconds without a refusal after which an overload ends; longer than `HELD_MS`. */
const CALM_MS = 3_500;

export class Overload {
  /** True while overloaded. */
  isLasting = false;
  private sampledMs: number;
  private polledMs: number;
  private samples = 0;
  private admitted = 0;
  /** Time since which all samples were late. */
  private lateSinceMs: number | undefined;
  private refusedMs = Number.NEGATIVE_INFINITY;

  /** All times are monotonic milliseconds. */
  constructor(nowMs: number) {
    this.sampledMs = nowMs;
    this.polledMs = nowMs;
  }

  /** Called every SAMPLE_MS, or as soon after that as the event loop allows. */
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
    // The first refusal may take some iterations.
    this.refusedMs = nowMs;
    return true;
  }

  /** Called when the event loop has read everything that its last poll found. */
  polled(nowMs: number): void {
    this.polledMs = nowMs;
    this.admitted = 0;
  }

  /** True if a request that is read now must be refused, as it may have waited too long. */
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

// Created once: a refusal must cost less than the request that it refuses.
const OVERLOADED = refusal(
  503,
  'The service is overloaded. Try again.',
  { 'Retry-After': '3' },
  'overloaded',
);

/** A little less than Retry-After, so that a client that honours it does not notice. */
const HELD_MS = 2_900;

export type OverloadGuard = ReturnType<typeof openOverloadGuard>;

/** Nothing is refused before `start`. */
export function openOverloadGuard(clock: Clock, trustedProxies: AddressBlocks) {
  const overload = new Overload(clock.monotonicMs());
  /** Monotonic milliseconds until which each socket is held, earliest first. */
  const holds = new Map<Socket, number>();
  /** Sockets released in this iteration. Bytes that are now read from them were sent while they were held. */
  const released = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;

  function isProxy({ remoteAddress }: Socket): boolean {
    const peer = remoteAddress === undefined ? undefined : parseAddress(remoteAddress);
    return peer !== undefined && trustedProxies.has(peer);
  }

  function sample(): void {
    const nowMs = clock.monotonicMs();
    overload.sample(nowMs);
    release(nowMs);
    setImmediate(polled);
    timer?.refresh();
  }

  function polled(): void {
    overload.polled(clock.monotonicMs());
    released.clear();
  }

  /**
   * Stops reading from a refused client's connection until it may try again. Repeating a refused request at
   * once, on thousands of connections, would keep the service busy with refusals; bytes waiting in a paused
   * connection cost nothing.
   */
  function hold(socket: Socket): void {
    // Several pipelined requests may be refused; they count as one attempt.
    if (socket.destroyed || holds.has(socket)) return;
    socket.pause();
    holds.set(socket, clock.monotonicMs() + HELD_MS);
  }

  function release(nowMs: number): void {
    for (const [socket, untilMs] of holds) {
      if (untilMs > nowMs) return;
      holds.delete(socket);
      released.add(socket);
      socket.resume();
    }
  }

  return {
    /** The first middleware of the chain. */
    refuse(request: ApiRequest): ApiResponse | undefined {
      if (!overload.isLasting && released.size === 0) return undefined;
      if (request.route?.isAlwaysAnswered === true) return undefined;
      const { socket } = request.incoming;
      // A request sent during the hold is stale: it is refused once more, but those after it are not.
      const isOld = released.delete(socket);
      if (!isOld && !overload.refuses(request.startMs)) return undefined;
      // Not where the response ends the connection, nor a proxy's connection, which serves other clients too.
      if (!isOld && !hasBody(request.incoming) && !isProxy(socket)) request.whenClosed(() => hold(socket));
      return OVERLOADED;
    },
    start(): void {
      timer ??= setTimeout(sample, SAMPLE_MS).unref();
    },
    stop(): void {
      clearTimeout(timer);
      timer = undefined;
      release(Number.POSITIVE_INFINITY);
    },
  };
}
