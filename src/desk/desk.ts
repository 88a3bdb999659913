/** The desk: a local page for those who run the registry (docs/desk.md). */

import { DeskFiles } from './importing/desk-files.ts';
import { COMPARE } from './screens/compare/compare.ts';
import { COOPERATIVE } from './screens/cooperative/cooperative.ts';
import { COOPERATIVES } from './screens/cooperative/cooperatives.ts';
import { LATE_LOANS, RECORDED, WITHOUT_DELIVERY } from './screens/cooperative/looked-after.ts';
import { MEMBERS } from './screens/cooperative/members.ts';
import { CONTRADICTIONS } from './screens/duplicates/contradictions.ts';
import { DUPLICATES } from './screens/duplicates/duplicates.ts';
import {
  CHANGE_COOPERATIVE,
  ENTER_IN_COOPERATIVE,
  NEW_COOPERATIVE,
} from './screens/entering/in-cooperative.ts';
import { CHANGE_ROW, ENTER_FOR_PERSON } from './screens/entering/of-person.ts';
import { FOUND } from './screens/found.ts';
import { HEALTH } from './screens/health/health.ts';
import { IMPORT_FILE, REJECTS } from './screens/import/file.ts';
import { IMPORT } from './screens/import/import.ts';
import { RECORDED_IMPORT } from './screens/import/recorded.ts';
import { TEMPLATE } from './screens/import/template.ts';
import { KEY } from './screens/keys/key.ts';
import { KEYS } from './screens/keys/keys.ts';
import { HELD } from './screens/person/held.ts';
import { PERSON } from './screens/person/person.ts';
import { READERS } from './screens/person/readers.ts';
import { START } from './screens/start.ts';
import type { DeskServerOptions } from './server/pages.ts';
import { type DeskServer, listenForDesk } from './server/server.ts';
import type { Screen } from './visit/screen.ts';

/** In the order of the menu. To add one, declare it in a file of `screens/` and list it here. */
export const SCREENS: readonly Screen[] = [
  ...[START, FOUND, PERSON, HELD, READERS],
  ...[COOPERATIVES, COOPERATIVE, MEMBERS, WITHOUT_DELIVERY, LATE_LOANS, COMPARE],
  ...Object.values(RECORDED),
  ...[NEW_COOPERATIVE, CHANGE_COOPERATIVE, ENTER_IN_COOPERATIVE, ENTER_FOR_PERSON, CHANGE_ROW],
  ...[IMPORT, TEMPLATE, IMPORT_FILE, REJECTS, RECORDED_IMPORT],
  ...[DUPLICATES, CONTRADICTIONS, KEYS, KEY, HEALTH],
];

export interface DeskOptions extends Omit<DeskServerOptions, 'screens' | 'files'> {
  /** Path of the executable, which imports files in processes of its own. */
  readonly program: string;
  /** Of these processes; that of this one when not given. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** @throws (as rejection) the system's error when the port cannot be listened on */
export async function openDesk(
  { program, environment = process.env, ...options }: DeskOptions,
  port: number,
): Promise<DeskServer> {
  const { location, deskFolder: folder } = options.storage;
  const { sequence } = await options.storage.readCondition();
  const files = new DeskFiles({
    ...{ program, environment, storage: location, folder },
    epoch: sequence?.epoch ?? '',
    isUndone(importId) {
      const journal = options.storage.openJournal();
      try {
        return journal.find(importId)?.undoneAt != null;
      } finally {
        journal.close();
      }
    },
  });
  const server = await listenForDesk({ ...options, files, screens: SCREENS }, port);
  const close = async () => {
    await server.close();
    await files.close();
  };
  return { ...server, close };
}
