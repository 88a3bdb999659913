/** Commands in messages, as a user can type them where the program is installed. */

/**
 * Text that starts the program. `deploy/` sets REGISTRY_COMMAND in an installation; otherwise npm starts the
 * program from a checkout or from the built package.
 */
const PROGRAM =
  process.env.REGISTRY_COMMAND ||
  (import.meta.url.endsWith('.ts') ? 'npm run -s registry --' : 'npx cooperative-registry');

/** Quotes an argument for a POSIX shell. */
export const quoted = (text: string): string =>
  /^[A-Z0-9_./-]+$/i.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * @param command command with arguments, without the program
 * @param db registry for the command; undefined for the registry of the settings
 */
export const typedCommand = (command: string, db?: string): string =>
  `${PROGRAM} ${command}${db === undefined ? '' : ` --db ${quoted(db)}`}`;
