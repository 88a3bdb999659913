/** Commands in messages, in the form in which a user can type them. */

/**
 * Text that starts the program. An installation sets REGISTRY_COMMAND (`deploy/`). Otherwise npm starts the
 * program, from a checkout or from the built package.
 */
const PROGRAM =
  process.env.REGISTRY_COMMAND ||
  (import.meta.url.endsWith('.ts') ? 'npm run -s registry --' : 'npx cooperative-registry');

/** Quotes an argument for a POSIX shell. */
export const quoted = (text: string): string =>
  /^[A-Z0-9_./-]+$/i.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** @param db location of the registry; undefined for the location in the settings */
export const typedCommand = (command: string, db?: string): string =>
  `${PROGRAM} ${command}${db === undefined ? '' : ` --db ${quoted(db)}`}`;
