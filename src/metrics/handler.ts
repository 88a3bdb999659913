/** Answers `GET /metrics` and nothing else, on a server of its own (docs/operating.md#metrics). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from './declarations.ts';
import { formatMetrics, TEXT_FORMAT } from './text-format.ts';

const READING = ['GET', 'HEAD'];

/** @param onError gets what `collect` throws: the client learns nothing of it */
export function createMetricsHandler(collect: () => Promise<Metrics>, onError: (error: unknown) => void) {
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '' } = incoming;
    incoming.resume();
    if (url.replace(/\?.*/s, '') !== '/metrics') end(outgoing, 404, 'Not found.\n');
    else if (!READING.includes(method)) {
      outgoing.setHeader('Allow', READING.join(', '));
      end(outgoing, 405, 'Method not allowed.\n');
    } else end(outgoing, 200, formatMetrics(await collect()), TEXT_FORMAT);
  }
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    answer(incoming, outgoing).catch((error: unknown) => {
      onError(error);
      end(outgoing, 500, 'A server error occurred.\n');
    });
  };
}

function end(outgoing: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8') {
  const headers = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) };
  // Node leaves the body of a response to HEAD out.
  outgoing.writeHead(status, headers).end(text);
}
