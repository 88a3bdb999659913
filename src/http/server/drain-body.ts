/** The end of a connection whose client still sends a body that nobody reads. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_BODY_BYTES } from './read-body.ts';

const DRAIN_MS = 1_000;

/**
 * Reads a little of a refused body before the connection ends: closing at once would reset it, and the client
 * might never see the response (docs/api.md#responses-and-errors).
 */
export function endAfterDraining(incoming: IncomingMessage, outgoing: ServerResponse): void {
  let drainedBytes = 0;
  const timer = setTimeout(finish, DRAIN_MS);
  function finish(): void {
    clearTimeout(timer);
    incoming.off('data', onData);
    if (!outgoing.writableEnded) outgoing.end();
    // What still comes is not read, node's own unbounded draining included.
    incoming.socket.destroySoon();
  }
  function onData(chunk: Buffer): void {
    drainedBytes += chunk.length;
    if (drainedBytes > MAX_BODY_BYTES) finish();
  }
  incoming.on('data', onData).once('end', finish).once('close', finish).once('error', finish).resume();
}
