/** Errors that callers of the registry must expect. Also pages, ids, and `Awaitable`, a value or promise. */

import type { Text } from './message.ts';

/** Messages by field; `non_field_errors` for the entire value (docs/api.md#responses-and-errors). */
export type FieldMessages = { [field: string]: string[] };

/** Parsers return this error instead of throwing it, because imports parse millions of values. */
export class FieldError {
  /** In English. */
  readonly message: string;
  readonly text: Text;
  constructor(text: Text) {
    this.message = String(text);
    this.text = text;
  }
}

/**
 * A row that is `gone` existed, and will not return. A request is `repeated` if an earlier one with the
 * same Idempotency-Key was answered. If the registry is `unavailable`, the client should try again later.
 */
export type RegistryErrorCode = 'invalid' | 'not_found' | 'gone' | 'repeated' | 'unavailable';

/** Reasons for `unavailable` in the log and metrics, with their descriptions in the documents. */
export const UNAVAILABLE_REASONS = {
  overloaded: 'the service is [overloaded](operating.md#overload)',
  database_busy: 'another process, such as an import, has kept the database locked for 2 seconds',
  too_many_writes: 'too many writes wait',
  too_many_waiting: 'too many searches or statistics wait',
  too_many_exports: 'too many exports run',
  names_indexing: 'the names of a large import are being indexed for searches',
  disk_full: 'the disk is [nearly full](trouble.md#when-the-disk-is-nearly-full)',
  disk_unreadable: 'the free space of the disk cannot be read',
  writing_failed: 'a commit has [failed](trouble.md#when-writing-to-the-disk-fails)',
  ledger: 'an access could not be recorded in the [access ledger](ledger.md#refused-accesses)',
  not_ready: 'the database does not answer `/readyz`, or writing has failed',
  stopping: 'the service is stopping',
  client_left: 'the client no longer waits for the export',
} as const;
export type UnavailableReason = keyof typeof UNAVAILABLE_REASONS;

export class RegistryError extends Error {
  readonly code: RegistryErrorCode;
  readonly fields: FieldMessages | undefined;
  /** Only for `unavailable`. */
  readonly retryAfterSeconds: number | undefined;
  /** Only for `unavailable`, and only in a service. */
  readonly reason: UnavailableReason | undefined;

  constructor(
    code: RegistryErrorCode,
    detail: string,
    more: {
      fields?: FieldMessages;
      retryAfterSeconds?: number | undefined;
      reason?: UnavailableReason | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'RegistryError';
    this.code = code;
    this.fields = more.fields;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.reason = more.reason;
  }
}

export const NON_FIELD_ERRORS = 'non_field_errors';
/** This message reveals a membership, so a response with it counts as an access by national ID. */
export const IS_MEMBER = 'The fields cooperative_id, identity_card must make a unique set.';

/** Collects the faults of a body, query or row, so that all are reported together. */
export class FieldErrorList {
  // No prototype, because a field may be named `__proto__` or `constructor`.
  readonly fields: FieldMessages = Object.create(null);

  get isEmpty(): boolean {
    return Object.keys(this.fields).length === 0;
  }

  has(field: string): boolean {
    return field in this.fields;
  }

  add(field: string, message: string): void {
    this.fields[field] ??= [];
    if (!this.fields[field].includes(message)) this.fields[field].push(message);
  }

  addAll(fields: FieldMessages): void {
    for (const [field, messages] of Object.entries(fields))
      for (const message of messages) this.add(field, message);
  }

  /**
   * Skips each field that already has a fault, because the rule got a substitute for the field's value.
   * @param rule throws a RegistryError `invalid` for its faults
   */
  addFoundBy(rule: () => unknown): void {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof RegistryError) || error.fields === undefined) throw error;
      for (const [field, messages] of Object.entries(error.fields))
        if (!this.has(field)) this.addAll({ [field]: messages });
    }
  }

  /** @throws RegistryError `invalid` if there are faults */
  throwIfAny(): void {
    refuseFields(this.fields);
  }
}

export function invalidFields(fields: FieldMessages): RegistryError {
  const texts = Object.entries(fields).map(([field, messages]) => `${field}: ${messages.join(' ')}`);
  return new RegistryError('invalid', texts.join(' '), { fields });
}

/** @throws RegistryError `invalid` unless `fields` is empty */
export function refuseFields(fields: FieldMessages): void {
  if (Object.keys(fields).length > 0) throw invalidFields(fields);
}

export const notFound = (): RegistryError => new RegistryError('not_found', 'Not found.');

const MAX_ECHO_CHARACTERS = 32;

/** Six digits in a row, or nine in groups: a telephone number has at least nine, but a date only eight. */
const PERSONAL_DIGITS = /\p{Nd}{6}|(?:\p{Nd}[^\p{L}\p{Nd}]*){9}/u;

/** True for a short, printable text without digits of a national ID (docs/api.md#responses-and-errors). */
export function mayEcho(text: string): boolean {
  return text.length <= MAX_ECHO_CHARACTERS && !/\p{C}/u.test(text) && !PERSONAL_DIGITS.test(text);
}

/** Like `mayEcho`, but also false for two words of letters, because a cell may contain a misplaced name. */
export const mayEchoCell = (cell: string): boolean => mayEcho(cell) && !/\p{L}.*\s.*\p{L}/u.test(cell);

/**
 * Returns the name under which to report a fault. No fault is reported under `detail`, because other errors
 * use this name (docs/api.md#responses-and-errors).
 */
export const shownName = (name: string): string =>
  mayEcho(name) && name !== 'detail' ? name : NON_FIELD_ERRORS;

/** Returns the message of Django REST framework for an unknown id. @param id as sent by the client */
export const unknownReference = (id: string | number): string =>
  mayEcho(String(id)) ? `Invalid pk "${id}" - object does not exist.` : 'Invalid pk - object does not exist.';

export interface PageRequest {
  /** Counted from 1. */
  readonly page: number;
  readonly pageSize: number;
}

export interface Page<T> {
  /** Exact, of the entire list. */
  readonly count: number;
  readonly rows: readonly T[];
}

export const offsetOf = (request: PageRequest): number => (request.page - 1) * request.pageSize;

/** Even an empty list has one page. */
export const lastPage = (count: number, pageSize: number): number => Math.max(1, Math.ceil(count / pageSize));

// Ids of rows: decimal digits of an integer key, always shorter than a national ID (docs/api.md#routes)

export const ID = /^[0-9]{1,12}$/;

export const parseId = (text: string): number | undefined => (ID.test(text) ? Number(text) : undefined);

// Values that are available now or later, for example from a thread, a request body or the disk

export type Awaitable<T> = T | PromiseLike<T>;

export const isThenable = <T>(value: Awaitable<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** Passes a value to `work`. If the value is already available, `work` runs at once. */
export const whenReady = <T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> =>
  isThenable(value) ? value.then(work) : work(value);
