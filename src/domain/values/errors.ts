/** The faults a rule can find: what callers of the domain and the store may throw and must expect. */

import type { Text } from './message.ts';

/** Messages by field name; `non_field_errors` holds those about all (docs/api.md#responses-and-errors). */
export type FieldMessages = { [field: string]: string[] };

/** One field's value was refused. Returned by parsers, not thrown: an import meets millions of values. */
export class FieldError {
  /** In English. */
  readonly message: string;
  /** What people read in their language. */
  readonly text: Text;
  constructor(text: Text) {
    this.message = String(text);
    this.text = text;
  }
}

/**
 * `invalid`: values refused by field; `not_found`: no such row; `gone`: there was one, and there will not be
 * again; `repeated`: a request with the same key has been answered; `unavailable`: try again later.
 */
export type RegistryErrorCode = 'invalid' | 'not_found' | 'gone' | 'repeated' | 'unavailable';

/** Why a service refuses with `unavailable`, each with its meaning: for the log and metrics. */
export const UNAVAILABLE_REASONS = {
  overloaded: 'more is asked than the service can do in time: [overload](operating.md#overload)',
  database_busy: 'another process, such as an import, has had the database locked for 2 seconds',
  too_many_writes: 'more writes wait than can be made soon',
  too_many_waiting: 'too many searches or statistics wait for those before them',
  too_many_exports: 'as many exports run as may at once',
  names_indexing: 'the names of a large import are being indexed for searches',
  disk_full: 'the disk has too little room left: [make room](trouble.md#when-the-disk-is-nearly-full)',
  disk_unreadable: 'how much room the disk has left cannot be read',
  writing_failed:
    'a commit has [failed](trouble.md#when-writing-to-the-disk-fails): nothing is written any more',
  ledger: 'a reading could not be recorded in the [access ledger](ledger.md#what-it-costs), nor answered',
  not_ready: '`/readyz`: the database does not answer, or writing has failed',
  stopping: 'the service is stopping',
  client_left: 'nobody waits for the export any more',
} as const;
export type UnavailableReason = keyof typeof UNAVAILABLE_REASONS;

/** A refusal that the caller can understand and act on. Any other error is unexpected. */
export class RegistryError extends Error {
  readonly code: RegistryErrorCode;
  readonly fields: FieldMessages | undefined;
  /** For `unavailable`: after how many seconds trying again makes sense. */
  readonly retryAfterSeconds: number | undefined;
  /** Of what a service refuses as `unavailable`. */
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
/** Tells that the person of a body is a member of its cooperative: a reading of the national ID. */
export const IS_MEMBER = 'The fields cooperative_id, identity_card must make a unique set.';

/** Collects the faults of one body, query or row, so that all of them are reported together. */
export class FieldErrorList {
  // No prototype: a field may be called `__proto__` or `constructor`.
  readonly fields: FieldMessages = Object.create(null);
  private found = false;

  get isEmpty(): boolean {
    return !this.found;
  }

  has(field: string): boolean {
    return field in this.fields;
  }

  add(field: string, message: string): void {
    this.found = true;
    const messages = this.fields[field];
    if (messages === undefined) this.fields[field] = [message];
    else if (!messages.includes(message)) messages.push(message);
  }

  addAll(fields: FieldMessages): void {
    for (const [field, messages] of Object.entries(fields))
      for (const message of messages) this.add(field, message);
  }

  /**
   * Adds the faults that a rule finds, but none to a field that has one: the rule saw a substitute of it.
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

  /** @throws RegistryError `invalid` when anything was added. */
  throwIfAny(): void {
    if (this.found) refuseFields(this.fields);
  }
}

/** `invalid`, with all messages in its text too. */
export function invalidFields(fields: FieldMessages): RegistryError {
  const texts = Object.entries(fields).map(([field, messages]) => `${field}: ${messages.join(' ')}`);
  return new RegistryError('invalid', texts.join(' '), { fields });
}

/** @throws RegistryError `invalid` when there is any message */
export function refuseFields(fields: FieldMessages): void {
  if (Object.keys(fields).length > 0) throw invalidFields(fields);
}

export const notFound = (): RegistryError => new RegistryError('not_found', 'Not found.');

const MAX_ECHO_CHARACTERS = 32;

/** Six digits, or nine in groups: more than a date has, and as many as a telephone number. */
const PERSONAL_DIGITS = /\p{Nd}{6}|(?:\p{Nd}[^\p{L}\p{Nd}]*){9}/u;

/**
 * Whether a value that a client sent may be repeated in a response: short, printable, and without digits that
 * could be part of a national ID (docs/api.md#responses-and-errors).
 */
export function mayEcho(text: string): boolean {
  return text.length <= MAX_ECHO_CHARACTERS && !/\p{C}/u.test(text) && !PERSONAL_DIGITS.test(text);
}

/** The same of a cell of a file, which may be in the wrong column: two words of letters may be a name. */
export const mayEchoCell = (cell: string): boolean => mayEcho(cell) && !/\p{L}.*\s.*\p{L}/u.test(cell);

/**
 * The name under which the fault of a field or parameter is reported: its own, where that may be repeated and
 * is not `detail`, which names the text of other errors (docs/api.md#responses-and-errors).
 */
export const shownName = (name: string): string =>
  mayEcho(name) && name !== 'detail' ? name : NON_FIELD_ERRORS;

/** DRF's message for an id that nothing has. @param given the id as it was sent */
export const unknownReference = (given: string | number): string =>
  mayEcho(String(given))
    ? `Invalid pk "${given}" - object does not exist.`
    : 'Invalid pk - object does not exist.';
