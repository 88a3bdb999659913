/** Folders that a command line or a setting names. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates what is missing of a path, one folder after the other: Node's recursive mkdir never returns where a
 * folder that exists takes no new ones and reports that the folder is missing, as `/proc` does.
 * @throws the system's error when one cannot be created
 */
export function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  mkdirSync(folder);
}
