/** A client of a service that may die, refuse or answer. */
import { Agent, request } from 'node:http';

export const CONNECTIONS = 16;

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly isReplayed: boolean;
  /** Of the access ledger. */
  readonly receipt: string | undefined;
}

/** Sends a request, POST unless said; rejects when the service dies meanwhile. */
export type Client = (
  path: string,
  headers: { readonly [name: string]: string },
  body: string | undefined,
  method?: string,
) => Promise<Answer>;

export function clientOf(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  return (path, headers, body, method = 'POST') =>
    new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('error', reject);
        response.on('end', () => {
          const { 'idempotency-replayed': replayed, 'x-access-receipt': receipt } = response.headers;
          const isReplayed = replayed === 'true';
          resolve({ status: response.statusCode ?? 0, text, isReplayed, receipt: receipt?.toString() });
        });
      });
      outgoing.on('error', reject).end(body);
    });
}
