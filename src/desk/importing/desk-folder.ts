/**
 * The folder in which the desk keeps what a user has given to it, from one desk to the next: for each file a
 * folder, with its bytes and what is known of it (docs/desk.md#import). Only the user can read it.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import type { RestedRun } from './command-run.ts';

/** How a file is to be read. */
export interface ImportChoices {
  /** Its text. */
  readonly map: string;
  readonly replaces?: number | undefined;
  readonly skipInvalid: boolean;
}

/** What is known of a file. */
export interface KeptFile {
  readonly name: string;
  readonly kind: ImportKind | undefined;
  readonly sheets: readonly string[] | undefined;
  readonly given: ImportChoices | undefined;
  readonly choices: ImportChoices | undefined;
  /** Of the registry's sequence when it was checked. */
  readonly epoch: string;
  /** Who gave it. */
  readonly as: Pick<RestedRun, 'user' | 'startedAt'>;
  readonly proposing: RestedRun | undefined;
  readonly check: RestedRun | undefined;
}

const STATE = 'state.json';
const FORGOTTEN: KeptFile = {
  ...{ name: 'file', kind: undefined, sheets: undefined, given: undefined, choices: undefined, epoch: '' },
  ...{ as: { user: '', startedAt: 0 }, proposing: undefined, check: undefined },
};

export class DeskFolder {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * What is kept, the oldest first. An upload that was cut off is removed.
   * @throws the system's error when the folder cannot be read
   */
  read(): [id: number, KeptFile][] {
    if (!existsSync(this.folder)) return [];
    return this.ids()
      .sort((a, b) => a - b)
      .flatMap((id): [number, KeptFile][] => {
        if (existsSync(this.pathOf(id, STATE))) return [[id, this.readState(id)]];
        rmSync(this.folderOf(id), { recursive: true, force: true });
        return [];
      });
  }

  private ids(): number[] {
    return readdirSync(this.folder).map(Number).filter(Number.isInteger);
  }

  /** After a power cut it may be empty: the file is there, and can be read anew. */
  private readState(id: number): KeptFile {
    try {
      return JSON.parse(readFileSync(this.pathOf(id, STATE), 'utf8'));
    } catch (error) {
      if (error instanceof SyntaxError) return FORGOTTEN;
      throw error;
    }
  }

  /** @returns the number of a new file, higher than those of all that are kept @throws the system's error */
  add(): number {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const id = Math.max(0, ...this.ids()) + 1;
    mkdirSync(this.folderOf(id), { mode: 0o700 });
    return id;
  }

  /** A full disk keeps what was known before: the desk goes on with what is in memory. */
  keep(id: number, kept: KeptFile): void {
    const written = this.pathOf(id, `${STATE}.part`);
    try {
      writeFileSync(written, JSON.stringify(kept), { mode: 0o600 });
      renameSync(written, this.pathOf(id, STATE));
    } catch {
      rmSync(written, { force: true });
    }
  }

  remove(id: number): Promise<void> {
    return rm(this.folderOf(id), { recursive: true, force: true });
  }

  /** Removes the folder when nothing is in it. */
  close(): void {
    if (existsSync(this.folder) && readdirSync(this.folder).length === 0) rmdirSync(this.folder);
  }

  private folderOf(id: number): string {
    return join(this.folder, String(id));
  }

  pathOf(id: number, name = 'file'): string {
    return join(this.folderOf(id), name);
  }
}
