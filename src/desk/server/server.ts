/** The server of the desk: it listens on this machine only (docs/desk.md#security). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DeskPages, type DeskServerOptions, HOST } from './pages.ts';

/** A file may come through a slow tunnel. */
const [HEADERS_MS, REQUEST_MS] = [10_000, 30 * 60_000];
const MAX_CONNECTIONS = 64;

export interface DeskServer {
  readonly port: number;
  /** @param user under whom changes are recorded. @returns an address that works once, within a minute */
  issueLink(user: string): string;
  close(): Promise<void>;
}

/** @throws (as rejection) the system's error when the port cannot be listened on */
export async function listenForDesk(options: DeskServerOptions, port: number): Promise<DeskServer> {
  const pages = new DeskPages(options);
  const server = createServer({ headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void pages.answer(request, response, portOf(server));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  return {
    port: portOf(server),
    issueLink: (user) => pages.issueLink(user, portOf(server)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        // Pages take milliseconds; an open connection is a browser that keeps it for later.
        setTimeout(() => server.closeAllConnections(), 1_000).unref();
      }),
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
