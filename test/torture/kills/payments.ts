/** Clients that record payments, each with an Idempotency-Key, and repeat whatever was not acknowledged. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, CONNECTIONS } from '../client.ts';
import type { KillsRegistry } from '../registry.ts';

/** Dated after the loans were approved. */
const PAID_AT = '2026-06-01T08:00:00+02:00';

interface Payment {
  readonly number: number;
  readonly loanId: number;
  /** Whole francs. */
  readonly amount: number;
}

export interface AcknowledgedPayment extends Payment {
  readonly id: string;
}

export interface Payments {
  readonly acknowledged: readonly AcknowledgedPayment[];
  /** Requests that were sent again. */
  readonly repeated: number;
  /** Those of them that had been recorded the first time. */
  readonly replayed: number;
  /** Records payments until the service dies. */
  writeTo(client: Client): Promise<void>;
  /** Repeats what was not acknowledged, to a service that lives. */
  finish(client: Client): Promise<void>;
}

export function startPayments({ key, loans }: KillsRegistry, random: () => number): Payments {
  const acknowledged: AcknowledgedPayment[] = [];
  const unanswered: Payment[] = [];
  let [next, repeated, replayed] = [1, 0, 0];

  const compose = (): Payment => ({
    number: next++,
    loanId: 1 + Math.floor(random() * loans),
    amount: 1 + Math.floor(random() * 1_000),
  });

  /** @throws what the connection does when the service dies */
  async function record(client: Client, payment: Payment, isRepeated: boolean): Promise<void> {
    const { number, loanId, amount } = payment;
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `payment-${number}`,
    };
    const fields = { loan_id: String(loanId), amount: `${amount}.00`, method: 'cash', paid_at: PAID_AT };
    const body = JSON.stringify({ ...fields, reference: `P-${number}` });
    if (isRepeated) repeated++;
    const { status, text, isReplayed } = await client('/api/v1/payments', headers, body);
    if (status === 503) {
      unanswered.push(payment);
      // As a client that is to try later.
      await sleep(20);
      return;
    }
    if (status !== 201) throw new UnexpectedAnswer(`${status}: ${text}`);
    if (isReplayed) replayed++;
    acknowledged.push({ ...payment, id: (JSON.parse(text) as { id: string }).id });
  }

  async function writeOneByOne(client: Client, hasNext: () => boolean): Promise<void> {
    while (hasNext()) {
      const again = unanswered.shift();
      const payment = again ?? compose();
      try {
        await record(client, payment, again !== undefined);
      } catch (error) {
        if (error instanceof UnexpectedAnswer) throw error;
        unanswered.push(payment);
        return;
      }
    }
  }
  const inParallel = async (work: () => Promise<void>): Promise<void> => {
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  };

  return {
    acknowledged,
    get repeated() {
      return repeated;
    },
    get replayed() {
      return replayed;
    },
    writeTo: (client) => inParallel(() => writeOneByOne(client, () => true)),
    async finish(client) {
      // A service that refuses each of them would be asked for ever.
      const most = repeated + 20 * unanswered.length + 1_000;
      await inParallel(() => writeOneByOne(client, () => unanswered.length > 0 && repeated < most));
      if (unanswered.length > 0) throw new Error(`${unanswered.length} payments were never acknowledged.`);
    },
  };
}

class UnexpectedAnswer extends Error {}
