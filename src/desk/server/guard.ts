/**
 * Who may ask at all: pages of the desk itself, opened under its own address. A page of another site can make
 * a browser send requests here, and give its own name the address 127.0.0.1 (docs/desk.md#security).
 */
import type { IncomingHttpHeaders } from 'node:http';

/** The names under which the desk is reached; a tunnel keeps the port. */
const hostsOf = (port: number): readonly string[] => [`127.0.0.1:${port}`, `localhost:${port}`];

/** Whether the browser means this desk: the name of another site may lead to this machine, too. */
export const isOurHost = ({ host }: IncomingHttpHeaders, port: number): boolean =>
  host !== undefined && hostsOf(port).includes(host.toLowerCase());

/**
 * Whether a page of the desk has sent a form. As no referrer is sent, browsers give `null` as the origin of a
 * form, and `Sec-Fetch-Site` says whose it is; one of the two must say that it is ours.
 */
export function isOurForm(headers: IncomingHttpHeaders, port: number): boolean {
  const { origin = 'null' } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === 'null') return site === 'same-origin';
  return hostsOf(port).includes(origin.toLowerCase().replace(/^http:\/\//, ''));
}
