/** Clients that look people up and keep the receipts. */
import type { Client } from './client.ts';
import { MEMBERS } from './registry.ts';

export interface Lookups {
  readonly receipts: Set<string>;
  /** Responses with personal data and without a receipt. */
  unrecorded: number;
  /** Receipts that came twice. */
  repeated: number;
  /** Looks up somebody, or nobody. @returns the status; rejects when the service dies */
  lookUp(client: Client): Promise<number>;
  /** Looks people up until the service dies. */
  readFrom(client: Client): Promise<void>;
}

const CONNECTIONS = 4;
/** Looks up one more than there are. */
const nid = (random: () => number): string =>
  `11985${String(1 + Math.floor(random() * (MEMBERS + 1))).padStart(11, '0')}`;

export function startLookups(key: string, random: () => number): Lookups {
  const headers = { Authorization: `Bearer ${key}` };
  const lookups: Lookups = {
    receipts: new Set(),
    unrecorded: 0,
    repeated: 0,
    async lookUp(client) {
      const { status, receipt } = await client(`/api/v1/members/${nid(random)}`, headers, undefined, 'GET');
      if (receipt !== undefined) {
        if (lookups.receipts.has(receipt)) lookups.repeated++;
        lookups.receipts.add(receipt);
      } else if (status === 200 || status === 404) lookups.unrecorded++;
      return status;
    },
    async readFrom(client) {
      const readOneByOne = async () => {
        for (;;) await lookups.lookUp(client);
      };
      await Promise.allSettled(Array.from({ length: CONNECTIONS }, readOneByOne));
    },
  };
  return lookups;
}
