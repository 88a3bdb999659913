/** Folders that a command line names. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError, EXIT } from './context.ts';

/**
 * Creates what is missing of a path, one folder after the other: Node's recursive mkdir never returns where a
 * folder that exists takes no new ones and says that the folder is missing, as `/proc` does.
 * @throws CommandError when one cannot be created
 */
export function createFolder(folder: string): void {
  try {
    createMissing(folder);
  } catch (error) {
    throw new CommandError(EXIT.usage, `${folder} cannot be created: ${(error as Error).message}.`);
  }
}

function createMissing(folder: string): void {
  if (existsSync(folder)) return;
  createMissing(dirname(folder));
  mkdirSync(folder);
}
