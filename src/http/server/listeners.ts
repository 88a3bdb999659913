/**
 * The sockets that listen on one address. The event loop accepts one connection of each in an iteration: with
 * only one, new clients would wait in an overload for as many iterations as there are others before them
 * (docs/decisions/0031-overload.md).
 */
import type { Server as HttpServer } from 'node:http';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';

/** Elsewhere the system gives all connections of an address to one of its sockets. */
const CAN_SHARE = process.platform === 'linux';
const LISTENERS = 16;

const listening = (server: Server, options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** @throws (as rejection) the system's error for an address that something else listens on */
async function refuseTaken(options: ListenOptions): Promise<void> {
  const probe = createServer();
  await listening(probe, options);
  await closed(probe);
}

export interface Listeners {
  /** Accepts no more. Resolves when every connection is closed. */
  close(): Promise<void>;
}

/**
 * Listens with a server, and with further sockets for it.
 * @throws (as rejection) the system's error when the address cannot be listened on
 */
export async function listenTogether(
  server: HttpServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listeners> {
  // Sharing would also let another service share, which was started on the same port by mistake. For port 0,
  // the system chooses one that nobody has.
  if (CAN_SHARE && port !== 0) await refuseTaken({ host, port });
  await listening(server, { host, port, reusePort: CAN_SHARE });
  const address = server.address();
  const chosen = typeof address === 'object' && address !== null ? address.port : port;
  const further = Array.from({ length: CAN_SHARE ? LISTENERS - 1 : 0 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      server.emit('connection', Object.assign(socket, { server }));
    }),
  );
  try {
    for (const each of further) await listening(each, { host, port: chosen, reusePort: true });
  } catch (error) {
    for (const each of [server, ...further]) each.close();
    throw error;
  }
  return { close: async () => void (await Promise.all([server, ...further].map(closed))) };
}
