/** Interfaces of the search by name, which the optional module `search` implements. */

import type { Storage } from '../sqlite/storage.ts';
import type { Page } from '../values/errors.ts';
import type { ListedMember, MemberSearch } from './members.ts';
import type { NamedMember } from './stored/stored-data-types.ts';

export interface Search {
  /**
   * Opens the search of an HTTP service. The search runs outside the event loop.
   * @param file registry file, opened by the first search
   */
  openSearching(file: string): Searching;
  /**
   * Opens the search of a command or the desk, on a separate connection.
   * @throws StorageError `unusable` if there is no registry
   */
  openNameSearch(storage: Storage): NameSearch;
}

export interface Searching {
  /**
   * @throws RegistryError (as a rejection) `unavailable` if too many searches wait, or while names of an
   *   import are missing from the index
   */
  members(search: MemberSearch): Promise<Page<ListedMember>>;
  /** Number of searches without a result yet. */
  waiting(): number;
  close(): Promise<void>;
}

interface NameSearch {
  /**
   * Returns members in id order, up to `MOST_FOUND`.
   * @param words beginnings of words in the name
   * @throws RegistryError `unavailable` while names of an import are missing from the index
   */
  searchMembers(words: readonly string[]): readonly NamedMember[];
  /** Returns ids of members who match after a correction of one typo. */
  listSimilar(words: readonly string[], most: number): readonly number[];
  close(): void;
}
