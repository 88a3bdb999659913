/** Responses of many parts: each is made when its client has taken those before it, and a few at a time. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import type { BodyParts } from '../declare/response.ts';

/** Made in one event-loop iteration: other requests must not wait for thousands of them. */
const PARTS_AT_ONCE = 20;

/** @param onError takes what went wrong when a part was made: its client gets a response that is cut off */
export type PartSender = (
  body: BodyParts,
  outgoing: ServerResponse,
  onError: (error: unknown) => void,
) => void;

export function createPartSender(): PartSender {
  /** Responses whose next part can be sent, in the order in which their turn comes. */
  let ready: (() => void)[] = [];

  function sendSome(): void {
    const first = ready.slice(0, PARTS_AT_ONCE);
    ready = ready.slice(PARTS_AT_ONCE);
    for (const sendNext of first) sendNext();
    if (ready.length > 0) setImmediate(sendSome);
  }

  async function* inTurn(parts: BodyParts['parts']): AsyncGenerator<string | Uint8Array> {
    for await (const part of parts) {
      yield part;
      await new Promise<void>((resolve) => {
        if (ready.push(resolve) === 1) setImmediate(sendSome);
      });
    }
  }

  return ({ parts }, outgoing, onError) => {
    pipeline(inTurn(parts), outgoing, (error) => {
      if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') onError(error);
    });
  };
}
