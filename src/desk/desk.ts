/** The desk: a local page for those who run the registry (docs/desk.md). */

import { DeskFiles } from './importing/desk-files.ts';
import { FOUND } from './screens/found.ts';
import { IMPORT_FILE, REJECTS } from './screens/import/file.ts';
import { IMPORT } from './screens/import/import.ts';
import { RECORDED_IMPORT } from './screens/import/recorded.ts';
import { HELD } from './screens/person/held.ts';
import { PERSON } from './screens/person/person.ts';
import { READERS } from './screens/person/readers.ts';
import { START } from './screens/start.ts';
import { type DeskServer, type DeskServerOptions, listenForDesk } from './server/server.ts';
import type { Screen } from './visit/screen.ts';

/** In the order of the menu. To add one, declare it in a file of `screens/` and list it here. */
export const SCREENS: readonly Screen[] = [
  ...[START, FOUND, PERSON, HELD, READERS],
  ...[IMPORT, IMPORT_FILE, REJECTS, RECORDED_IMPORT],
];

export interface DeskOptions extends Omit<DeskServerOptions, 'screens' | 'files'> {
  /** Path of the executable, which imports files in processes of its own. */
  readonly program: string;
}

/** @throws (as rejection) the system's error when the port cannot be listened on */
export async function openDesk({ program, ...options }: DeskOptions, port: number): Promise<DeskServer> {
  const files = new DeskFiles({ program, storage: options.config.storage });
  const server = await listenForDesk({ ...options, files, screens: SCREENS }, port);
  const close = async () => {
    await server.close();
    await files.close();
  };
  return { ...server, close };
}
