/** Searches by name. A module adds them; without the module the registry works, but has no searches. */

import type { Storage } from '../sqlite/storage.ts';
import type { Page } from '../values/errors.ts';
import type { ListedMember, MemberSearch } from './members.ts';
import type { NamedMember } from './stored/stored-data-types.ts';

export interface Search {
  /**
   * Searches for a service, outside its event loop.
   * @param file registry file, opened with the first search
   */
  openSearching(file: string): Searching;
  /**
   * Searches for commands and the desk, on a connection of their own.
   * @throws StorageError `unusable` if there is no registry
   */
  openNameSearch(storage: Storage): NameSearch;
}

interface Searching {
  /**
   * @throws RegistryError (as a rejection) `unavailable` if too many searches wait, or names are missing from
   *   the index
   */
  members(search: MemberSearch): Promise<Page<ListedMember>>;
  /** Number of searches under way. */
  waiting(): number;
  close(): Promise<void>;
}

interface NameSearch {
  /**
   * Members whose names have words with these prefixes, in id order, up to a limit.
   * @throws RegistryError `unavailable` while names of an import are missing from the index
   */
  searchMembers(words: readonly string[]): readonly NamedMember[];
  /**
   * Ids of members who match when one letter of the words is corrected, up to `most`.
   * @throws RegistryError as `searchMembers`
   */
  listSimilar(words: readonly string[], most: number): readonly number[];
  close(): void;
}
