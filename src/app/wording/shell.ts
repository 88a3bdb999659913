/** Words of command lines that people copy. */

/** An argument as a POSIX shell reads it back. */
export const quoted = (text: string): string =>
  /^[A-Z0-9_./-]+$/i.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
