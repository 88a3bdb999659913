/** Refuses what cannot be done in time, before it costs more than that (docs/operating.md#overload). */
import type { Socket } from 'node:net';
import { type AddressBlocks, parseAddress } from '../../domain/access/address-blocks.ts';
import type { Clock } from '../../runtime/clock.ts';
import { hasBody } from '../declare/request.ts';
import { refusal } from '../declare/response.ts';
import type { Middleware } from './middleware.ts';
import { Overload, SAMPLE_MS } from './overload.ts';

// Made once: a refusal must cost less than what it refuses.
const OVERLOADED = refusal(
  503,
  'The service is overloaded. Try again.',
  { 'Retry-After': '3' },
  'overloaded',
);

/** A little less than Retry-After, so that whoever keeps to it does not notice. */
const HELD_MS = 2_900;

export interface OverloadGuard {
  /** The first middleware of the chain. */
  readonly refuse: Middleware;
  /** Begins to watch the event loop: without it nothing is refused. */
  start(): void;
  stop(): void;
}

export function openOverloadGuard(clock: Clock, trustedProxies: AddressBlocks): OverloadGuard {
  const overload = new Overload(clock.monotonicMs());
  /** Until when each is held, in the order in which their time is over. */
  const held = new Map<Socket, number>();
  /** Those whose time was over in this iteration: what is read from them now was sent before. */
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
   * A client that repeats a refused request at once, on thousands of connections, would keep the service busy
   * with refusing. Its connection is not read until it may try again: what waits in it costs nothing.
   */
  function hold(socket: Socket): void {
    // Of requests sent ahead of the responses, several may be refused: they are one attempt.
    if (socket.destroyed || held.has(socket)) return;
    socket.pause();
    held.set(socket, clock.monotonicMs() + HELD_MS);
  }

  function release(nowMs: number): void {
    for (const [socket, untilMs] of held) {
      if (untilMs > nowMs) return;
      held.delete(socket);
      released.add(socket);
      socket.resume();
    }
  }

  return {
    refuse(request) {
      if (!overload.isLasting && released.size === 0) return undefined;
      if (request.route?.isAlwaysAnswered === true) return undefined;
      const { socket } = request.incoming;
      // What a held connection has sent meanwhile is old: it is refused once more, and what follows is not.
      const isOld = released.delete(socket);
      if (!isOld && !overload.refuses(request.startMs)) return undefined;
      // With a body that is not read, the response ends the connection; that of a proxy is others' too.
      if (!isOld && !hasBody(request.incoming) && !isProxy(socket)) request.whenClosed(() => hold(socket));
      return OVERLOADED;
    },
    start() {
      timer ??= setTimeout(sample, SAMPLE_MS).unref();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      release(Number.POSITIVE_INFINITY);
    },
  };
}
