/**
 * Requests that ask to change the protocol. This server never does, and such a request is answered like any
 * other (RFC 9110, section 7.8). But node's parser stops behind it and would drop what follows in the same
 * packet, and the next response would be taken for that of the dropped request: the connection gets a new
 * parser instead.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import { hasBody } from './request.ts';

/** Node asks this before it takes a request for an upgrade: one with a body is parsed like any other. */
export const shouldUpgrade = (incoming: IncomingMessage): boolean => !hasBody(incoming);

/** @param connectionOf the connection of a socket */
export function ignoreUpgrades(
  server: Server,
  connectionOf: (socket: Socket) => Connection | undefined,
): void {
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, rest: Buffer) => {
    const connection = connectionOf(socket);
    if (connection === undefined || hasBody(incoming)) socket.destroy();
    else connection.afterLast(() => answer(server, incoming, socket, rest));
  });
}

function answer(server: Server, incoming: IncomingMessage, socket: Socket, rest: Buffer): void {
  if (socket.destroyed) return;
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket);
  outgoing.once('finish', () => {
    outgoing.detachSocket(socket);
    outgoing.emit('close');
    if (!outgoing.shouldKeepAlive) {
      socket.destroySoon();
      return;
    }
    if (rest.length > 0) socket.unshift(rest);
    server.emit('connection', socket);
  });
  server.emit('request', incoming, outgoing);
}
