/**
 * Refuses requests in an overload, which is detected by the delay of the event loop: arriving requests wait
 * as long as this delay (docs/decisions/0031-overload.md).
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/scheduler.ts';
import type { AddressBlocks } from '../../values/address-blocks.ts';
import { hasBody } from '../declare/request-body.ts';
import { type ApiResponse, refusal } from '../declare/response.ts';
import type { ApiRequest } from '../declare/route.ts';
import { parsePeer } from './middleware.ts';

export const SAMPLE_MS = 20;
/** A sample counts as late if more milliseconds than this have passed since the previous sample. */
const LATE_MS = 50;
/** The service counts as overloaded after this many milliseconds without a timely sample. */
const INTERVAL_MS = 500;
/** An overload has at least this many late samples. A single long call causes only one late sample. */
const LEAST_SAMPLES = 3;
/**
 * After each poll of the event loop, an overloaded service admits requests for this many milliseconds. A
 * client waits at most about twice this time, first for its turn, then for the end of the iteration.
 */
const ADMITTING_MS = 50;
/** Each iteration admits at least this many requests, even after a suspension longer than ADMITTING_MS. */
const LEAST_ADMITTED = 24;
/** An overload ends after this many milliseconds without a refusal. Must be longer than `HELD_MS`. */
const CALM_MS = 3_500;

export class Overload {
  isLasting = false;
  private sampledMs: number;
  private polledMs: number;
  private samples = 0;
  private admitted = 0;
  /** Time since which all samples have been late; undefined after a timely sample. */
  private lateSinceMs: number | undefined;
  private refusedMs = Number.NEGATIVE_INFINITY;

  /** All times are in monotonic milliseconds. */
  constructor(nowMs: number) {
    this.sampledMs = nowMs;
    this.polledMs = nowMs;
  }

  /** Called every SAMPLE_MS, or as soon afterwards as the event loop allows. */
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
    // The start counts as a refusal. Otherwise the overload would end before the first real refusal.
    this.refusedMs = nowMs;
    return true;
  }

  /** Called after the event loop has read everything that arrived before its last poll. */
  polled(nowMs: number): void {
    this.polledMs = nowMs;
    this.admitted = 0;
  }

  /** True if a request read now must be refused, because it may have waited too long. */
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

// Created once, because a refusal must cost less than the refused request.
const OVERLOADED = refusal(
  503,
  'The service is overloaded. Try again.',
  { 'Retry-After': '3' },
  'overloaded',
);

/** Time for which a refused connection is not read. Ends before the client may retry (`Retry-After`). */
const HELD_MS = 2_900;

/** Refuses nothing before `start` is called. */
export function openOverloadGuard(clock: Clock, trustedProxies: AddressBlocks) {
  const overload = new Overload(clock.monotonicMs());
  /** Monotonic milliseconds at which the hold of each socket ends, earliest first. */
  const holds = new Map<Socket, number>();
  /** Sockets whose hold has just ended. Bytes now read from such a socket were sent during the hold. */
  const released = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;

  function isProxy({ remoteAddress }: Socket): boolean {
    const peer = parsePeer(remoteAddress);
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

  /** Stops reading a socket. Otherwise, clients that repeat refused requests would keep the service busy. */
  function hold(socket: Socket): void {
    // Several refused requests in a pipeline count as one attempt.
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
    refuse(request: ApiRequest): ApiResponse | undefined {
      if (!overload.isLasting && released.size === 0) return undefined;
      if (request.route?.isAlwaysAnswered === true) return undefined;
      const { socket } = request.incoming;
      // A request that was sent during the hold is refused again.
      const isOld = released.delete(socket);
      if (!isOld && !overload.refuses(request.startMs)) return undefined;
      // No hold for a connection that ends with this response, or for a proxy, which has other clients too.
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
