/** Commands that a command proposes: copied, they act on the registry that it was about. */
import type { SettingOptions } from './settings.ts';

/** An argument as a POSIX shell reads it back. */
export const quoted = (text: string): string =>
  /^[A-Z0-9_./-]+$/i.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** @param command with its arguments, without the program */
export const proposed = (command: string, { db }: SettingOptions): string =>
  db === undefined ? command : `${command} --db ${quoted(db)}`;
