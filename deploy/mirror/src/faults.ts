/** What goes wrong: what passes is waited for, what stays ends the program. */

/** Somebody must change something: the program ends with status 1. Its text has no value that was sent. */
export class LastingFault extends Error {}

/** A fault that passes, on either side: tried again. */
export class PassingFault extends Error {}

/** The sequence that was followed does not go on: everything is loaded again. */
export class SequenceEnded extends Error {}

/**
 * Classes of PostgreSQL's errors that stay: wrong data or statements (22, 23, 42), authorization (28), no
 * such database or schema (3D, 3F), an unsupported feature (0A), a view of
 * somebody else's on a column that goes (2B).
 */
const LASTING_CLASSES = new Set(['0A', '22', '23', '28', '2B', '3D', '3F', '42']);

/** Errors of `pg`: with a SQLSTATE from the server, without one when the connection failed. */
export function databaseFault(error: unknown): Error {
  if (error instanceof LastingFault || error instanceof PassingFault || error instanceof SequenceEnded)
    return error;
  const { code } = error as { readonly code?: string };
  // The text of an error may have values of the row: the code says enough.
  const isState = code !== undefined && /^[0-9A-Z]{5}$/.test(code);
  if (isState && LASTING_CLASSES.has(code.slice(0, 2)))
    return new LastingFault(`PostgreSQL refuses, with the code ${code} (${meaningOf(code)})`);
  // A stream ends early when its connection does; other codes of Node itself are mistakes of this program.
  const isLost = /^E(?!RR_)|^ERR_STREAM/.test(code ?? '') || /onnection|terminated/.test(String(error));
  if (isState || isLost) return new PassingFault(`PostgreSQL: ${code ?? 'the connection was lost'}`);
  return error as Error;
}

const meaningOf = (code: string): string =>
  ({
    '28P01': 'wrong password',
    '28000': 'this user may not connect',
    '3D000': 'no such database',
    '42501': 'the user of DATABASE_URL lacks a right',
  })[code] ?? 'see its list of error codes';
