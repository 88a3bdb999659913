/** Readings of personal data, recorded together before any of their responses leaves (docs/ledger.md). */

import type { AddressBlocks } from '../../domain/access/address-blocks.ts';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { AccessLedger, Reading, Subject } from '../../store/contract/access-ledger.ts';
import { toErrorResponse } from '../declare/errors.ts';
import { describeShown } from '../declare/personal.ts';
import type { ApiRequest } from '../declare/request.ts';
import type { ApiResponse } from '../declare/response.ts';
import { METHODS, type Route } from '../declare/route.ts';
import { clientAddressText } from '../middleware/client-address.ts';

export interface RecorderDependencies {
  readonly ledger: AccessLedger;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly trustedProxies: AddressBlocks;
}

/** What becomes of a response once its reading was recorded or could not be; neither may throw. */
export interface Outcome {
  readonly leave: (receipt: string) => void;
  readonly refuse: (error: unknown) => void;
}

export type Recorder = (
  request: ApiRequest,
  response: ApiResponse,
  subject: Subject,
  outcome: Outcome,
) => void;

/** What is ready in one iteration of the event loop is recorded together, as it is sent together. */
export function createRecorder({ ledger, scheduler, clock, trustedProxies }: RecorderDependencies): Recorder {
  let waiting: (Outcome & { readonly reading: Reading })[] = [];

  async function recordAll(): Promise<void> {
    const all = waiting;
    if (all.length === 0) return;
    waiting = [];
    let receipts: readonly string[];
    try {
      receipts = await ledger.record(all.map(({ reading }) => reading));
      if (receipts.length !== all.length) throw new Error('The ledger gave too few receipts.');
    } catch (error) {
      for (const { refuse } of all) refuse(error);
      return;
    }
    all.forEach(({ leave }, i) => {
      leave(receipts[i] as string);
    });
  }

  return (request, response, subject, outcome) => {
    const reading = toReading(request, response, subject, { timeMs: clock.now(), trustedProxies });
    if (waiting.push({ ...outcome, reading }) === 1) scheduler.atEnd('send', () => void recordAll());
  };
}

function toReading(
  request: ApiRequest,
  response: ApiResponse,
  subject: Subject,
  { timeMs, trustedProxies }: { readonly timeMs: number; readonly trustedProxies: AddressBlocks },
): Reading {
  const { id, caller, incoming, route, stated } = request;
  return {
    timeMs,
    requestId: id,
    // Nothing personal is public: the middleware has found the key.
    reader: { keyId: (caller as ApiKey).id },
    ...describeShown(route as Route, response),
    address: clientAddressText(incoming, trustedProxies),
    purpose: stated.purpose,
    endUser: stated.endUser,
    subject,
  };
}

/** The response in the place of one that could not be recorded. */
export function refuseUnrecorded(
  { incoming }: Pick<ApiRequest, 'incoming'>,
  unsent: Pick<ApiResponse, 'status'>,
  error: unknown,
): ReturnType<typeof toErrorResponse> {
  const refused = toErrorResponse(error);
  if (refused.response.status !== 503) return refused;
  const isMade = METHODS[incoming.method as keyof typeof METHODS] !== 'GET' && unsent.status < 400;
  const detail = !isMade
    ? 'This reading could not be recorded. Try again.'
    : 'The change was made; it is not shown because this reading could not be recorded.';
  return { ...refused, response: { ...refused.response, body: { detail } } };
}
