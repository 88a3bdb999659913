/** Programs of the machine that tests of `deploy/` need, and where the project's files are installed. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const readDeployed = (name: string): string => readFileSync(join(ROOT, 'deploy', name), 'utf8');

/** Servers are where a user's search path may not lead. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];

/** @returns why a test is skipped, or false when the machine has all programs */
export function missing(...names: readonly string[]): string | false {
  const absent = names.filter((name) => !FOLDERS.some((folder) => existsSync(join(folder, name))));
  return absent.length > 0 && `This machine lacks ${absent.join(' and ')}.`;
}

export const pathOf = (name: string): string =>
  FOLDERS.map((folder) => join(folder, name)).find(existsSync) ?? name;

/** The text with each of some texts, which must be in it, replaced everywhere. */
export function replaceAll(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`There is no "${from}" to replace.`);
    return changed.replaceAll(from, to);
  }, text);
}
