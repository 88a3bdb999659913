/** Commands of the program in messages, as they can be typed where it runs. */

/**
 * How the program is started. `deploy/` sets REGISTRY_COMMAND where it is installed; else npm starts it from
 * a checkout, or from the package that it is built into.
 */
const PROGRAM =
  process.env.REGISTRY_COMMAND ||
  (import.meta.url.endsWith('.ts') ? 'npm run -s registry --' : 'npx cooperative-registry');

/** Quotes an argument for a POSIX shell. */
export const quoted = (text: string): string =>
  /^[A-Z0-9_./-]+$/i.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * @param command command with its arguments, without the program
 * @param db registry on which it acts, unless it is the one of the settings
 */
export const typedCommand = (command: string, db?: string): string =>
  `${PROGRAM} ${command}${db === undefined ? '' : ` --db ${quoted(db)}`}`;
