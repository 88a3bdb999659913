/** Commands that a command proposes: copied, they act on the registry that it was about. */
import { quoted } from '../../app/wording/shell.ts';
import type { SettingOptions } from './settings.ts';

/** @param command with its arguments, without the program */
export const proposed = (command: string, { db }: SettingOptions): string =>
  db === undefined ? command : `${command} --db ${quoted(db)}`;
