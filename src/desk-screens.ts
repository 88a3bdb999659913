/** Assembles the desk, the local web interface for clerks and operators (docs/desk.md). */

import { LATE_LOANS, membersPage, RECORDED, WITHOUT_DELIVERY } from './browse/cooperative-list-pages.ts';
import { COOPERATIVES, cooperativePage } from './browse/cooperative-page.ts';
import { foundPage, startPage } from './browse/search-and-start-pages.ts';
import { type DeskServer, type DeskServerOptions, listenForDesk } from './desk/desk-requests.ts';
import type { Screen } from './desk/screen.ts';
import {
  CHANGE_COOPERATIVE,
  CHANGE_ROW,
  ENTER_FOR_PERSON,
  ENTER_IN_COOPERATIVE,
  NEW_COOPERATIVE,
} from './entering/entering-pages.ts';
import { healthPage } from './health/health-page.ts';
import { DeskFiles } from './import/pages/desk-files.ts';
import { IMPORT_FILE, REJECTS } from './import/pages/file.ts';
import { IMPORT, TEMPLATE } from './import/pages/import-page.ts';
import { RECORDED_IMPORT } from './import/pages/recorded-import.ts';
import { openJournal } from './journal/undo.ts';
import { KEY, KEYS } from './keys/key-pages.ts';
import { loadSearch, loadStatus, MODULES } from './modules.ts';
import { CONTRADICTIONS, DUPLICATES } from './people/pages/duplicates-page.ts';
import { HELD, PERSON } from './people/pages/person-page.ts';
import { READERS } from './people/pages/readers.ts';
import { deskFolderOf } from './sqlite/registry-files.ts';
import { sequenceOf } from './sqlite/storage.ts';

const ADDED = await loadStatus();
const SEARCH = await loadSearch();
const OF_COOPERATIVE = await Promise.all(MODULES.flatMap(({ ofCooperative }) => ofCooperative?.() ?? []));
const [FIGURES] = await Promise.all(MODULES.flatMap(({ figures }) => figures?.() ?? []));
const OF_MODULES = await Promise.all(MODULES.flatMap(({ screens }) => screens?.() ?? []));

/** All screens, in the order of the menu. */
export const SCREENS: readonly Screen[] = [
  ...[startPage(ADDED), foundPage(SEARCH), PERSON, HELD, READERS],
  ...[COOPERATIVES, cooperativePage(OF_COOPERATIVE, FIGURES)],
  ...[membersPage(SEARCH), WITHOUT_DELIVERY, LATE_LOANS, ...OF_MODULES.flat()],
  ...Object.values(RECORDED),
  ...[NEW_COOPERATIVE, CHANGE_COOPERATIVE, ENTER_IN_COOPERATIVE, ENTER_FOR_PERSON, CHANGE_ROW],
  ...[IMPORT, TEMPLATE, IMPORT_FILE, REJECTS, RECORDED_IMPORT],
  ...[DUPLICATES, CONTRADICTIONS, KEYS, KEY, healthPage(ADDED)],
];

export interface DeskOptions extends Omit<DeskServerOptions, 'screens' | 'files'> {
  /** Path of this program's executable, which runs imports, backups and checks in separate processes. */
  readonly program: string;
  /** Environment of these processes; by default, that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** @throws (as a rejection) the system's error if the server cannot listen on the port */
export async function openDesk(
  { program, environment = process.env, ...options }: DeskOptions,
  port: number,
): Promise<DeskServer> {
  const { location } = options.storage;
  const folder = deskFolderOf(location);
  const sequence = sequenceOf(options.storage);
  const files = new DeskFiles({
    ...{ program, environment, storage: location, folder },
    epoch: sequence?.epoch ?? '',
    isUndone(importId) {
      const journal = openJournal(options.storage);
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
