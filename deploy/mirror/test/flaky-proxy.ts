/** Stands between a mirror and its registry: refuses some requests, and breaks off some answers. */

import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class FlakyProxy {
  private readonly server: Server;
  /** How often it refused, and how often it broke off. */
  refused = 0;
  broken = 0;

  /** @param target port of the registry @param random below 1 */
  constructor(target: () => number, random: () => number) {
    this.server = createServer((incoming, response) => {
      const luck = random();
      if (luck < 0.04) {
        this.refused++;
        response.writeHead(luck < 0.02 ? 503 : 429, { 'Retry-After': luck < 0.01 ? '1' : '0' }).end('{}');
        return;
      }
      const { method, url, headers } = incoming;
      const options = { host: '127.0.0.1', port: target(), method, path: url, headers };
      const outgoing = request(options, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        if (luck >= 0.08) {
          answer.on('error', () => response.destroy()).pipe(response);
          return;
        }
        this.broken++;
        answer.once('data', (chunk: Buffer) => {
          response.write(chunk.subarray(0, chunk.length / 2), () => response.destroy());
          answer.destroy();
        });
        // An export without rows has no data to break off.
        answer.once('end', () => response.destroy());
      });
      outgoing.on('error', () => response.destroy());
      response.on('close', () => outgoing.destroy());
      outgoing.end();
    });
  }

  /** @returns its port */
  async start(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
