/** The response to a request, before it becomes bytes. */
import type { Refusal } from '../../domain/access/refusal-reasons.ts';
import type { FieldGroup } from '../../domain/values/declared-fields.ts';
import type { UnavailableReason } from '../../domain/values/errors.ts';
import type { Subject } from '../../store/contract/access-ledger.ts';

export type Headers = { [name: string]: string };

/** JSON that was serialized already, to be sent as it is. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const JSON_TYPE = 'application/json';

/** A body in parts, each of which is made when the client has taken those before it. */
export class BodyParts {
  readonly parts: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
  /** Its media type. */
  readonly type: string;

  constructor(parts: BodyParts['parts'], type = JSON_TYPE) {
    this.parts = parts;
    this.type = type;
  }
}

export interface ApiResponse {
  readonly status: number;
  /** A value for JSON, a JsonText or BodyParts; undefined for no body. */
  readonly body: unknown;
  readonly headers?: Headers;
  /** Whom it shows: a success of a route that is `personal` is not sent without. */
  readonly subject?: Subject | undefined;
  /** The groups of fields that it shows, where those are fewer than its route declares. */
  readonly fields?: readonly FieldGroup[];
  /** Why it was refused, for the log and metrics. */
  readonly reason?: Refusal | UnavailableReason | undefined;
  /** What lies behind it, for the log only: it may hold more than the client should learn. */
  readonly cause?: string;
}

export const ok = (body: unknown): ApiResponse => ({ status: 200, body });

/**
 * A refusal as a value: middleware returns it, as making an Error with its stack costs more than all else.
 * @param reason for the log
 */
export const refusal = (
  status: number,
  detail: string,
  headers: Headers = {},
  reason?: Refusal | UnavailableReason,
): ApiResponse => ({
  status,
  body: new JsonText(JSON.stringify({ detail })),
  headers,
  reason,
});
