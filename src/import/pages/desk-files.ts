/**
 * Files that users uploaded to the desk, and the commands that read them. All users see all files, also after
 * a restart of the desk. Only the operating-system user of the desk can read the folder.
 */
import {
  createWriteStream,
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
import { pipeline } from 'node:stream/promises';
import type { Visit } from '../../desk/screen.ts';
import { FAULTS_COLUMN, type ImportKind } from '../../registry/file-columns.ts';
import { StorageError } from '../../sqlite/sqlite-errors.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import type { MapProposal } from '../reading/propose-map.ts';
import { addedColumnOf } from '../table/header.ts';
import {
  CommandQueue,
  CommandRun,
  type QueueOptions,
  type RestedRun,
  type RunAs,
} from './previews-and-runs.ts';

export interface ImportChoices {
  /** Map document as JSON. */
  readonly map: string;
  readonly replaces?: number | undefined;
  readonly skipInvalid: boolean;
  readonly skipsHidden: boolean;
}

export interface DeskFile {
  readonly id: number;
  /** Name for display, from the upload. It is never part of a path. */
  readonly name: string;
  /** Kind chosen by the user; undefined while the kind is only guessed. */
  kind: ImportKind | undefined;
  /** Run of `import map`, which suggests a map. */
  proposing: CommandRun;
  /** Sheets of a workbook from an earlier run of `import map`, in case the current run fails. */
  sheets?: readonly string[] | undefined;
  /** Last submitted choices. For corrected rejects, initially the choices of the original file. */
  given?: ImportChoices | undefined;
  /** Choices with which the file was last checked. */
  choices?: ImportChoices | undefined;
  /** Run of `import` with `choices`. After the check, it waits for the user's confirmation. */
  check?: CommandRun | undefined;
}

interface SavedFile extends Pick<DeskFile, 'name' | 'kind' | 'sheets' | 'given' | 'choices'> {
  /** Epoch of the registry's events when the file was checked. */
  readonly epoch: string;
  /** User who uploaded the file, and the time. */
  readonly as: Pick<RestedRun, 'user' | 'startedAt'>;
  readonly proposing?: RestedRun | undefined;
  readonly check?: RestedRun | undefined;
}

const STATE = 'state.json';
const MAX_NAME_CHARACTERS = 120;

interface DeskFilesOptions extends QueueOptions {
  /** Folder that has a subfolder for the bytes and the state of each file. */
  readonly folder: string;
  /** Epoch of the registry's events. After a new epoch, earlier checks and imports are not shown. */
  readonly epoch: string;
  readonly isUndone: (importId: number) => boolean;
}

export class DeskFiles {
  private readonly options: DeskFilesOptions;
  readonly commands: CommandQueue;
  private readonly files = new Map<number, DeskFile>();

  /** @throws the system's error if the folder cannot be read */
  constructor(options: DeskFilesOptions) {
    this.options = options;
    this.commands = new CommandQueue(options);
    for (const id of this.savedIds()) {
      if (existsSync(this.pathOf(id, STATE))) this.files.set(id, this.restore(id));
      // Without a saved state, the upload was interrupted.
      else rmSync(this.pathOf(id, '.'), { recursive: true, force: true });
    }
  }

  /** Oldest first. */
  private savedIds(): number[] {
    const { folder } = this.options;
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .map(Number)
      .filter(Number.isInteger)
      .sort((a, b) => a - b);
  }

  private pathOf(id: number, name: string): string {
    return join(this.options.folder, String(id), name);
  }

  private restore(id: number): DeskFile {
    const { epoch, as, proposing, check: saved, given, choices, ...file } = this.readState(id);
    const again = (run: RestedRun | undefined) => run && CommandRun.again(run, this.options);
    const check = epoch === this.options.epoch ? again(saved) : undefined;
    return {
      ...file,
      id,
      check,
      given: given ?? choices,
      choices: check && choices,
      proposing: again(proposing) ?? this.propose(id, file.name, file.kind, { ...as, language: 'en' }),
    };
  }

  /** Returns a new state if a power failure has damaged the saved state. */
  private readState(id: number): SavedFile {
    try {
      return JSON.parse(readFileSync(this.pathOf(id, STATE), 'utf8'));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { name: 'file', kind: undefined, epoch: '', as: { user: '', startedAt: 0 } };
    }
  }

  /** Omits running commands, which end with the desk. If the disk is full, the previous state stays. */
  private save(id: number): void {
    const file = this.files.get(id);
    if (file === undefined) return;
    const { id: _, proposing, check, ...choices } = file;
    const { user, startedAt } = proposing;
    const state: SavedFile = {
      ...choices,
      epoch: this.options.epoch,
      as: { user, startedAt },
      proposing: proposing.rested,
      check: check?.rested,
    };
    const incomplete = this.pathOf(id, `${STATE}.part`);
    try {
      writeFileSync(incomplete, JSON.stringify(state), { mode: 0o600 });
      renameSync(incomplete, this.pathOf(id, STATE));
    } catch {
      rmSync(incomplete, { force: true });
    }
  }

  /** Newest first. */
  list(): readonly DeskFile[] {
    return [...this.files.values()].reverse();
  }

  find(id: number): DeskFile | undefined {
    return this.files.get(id);
  }

  /**
   * Saves an uploaded file and starts the suggestion of its map.
   * @throws errors of `content`; the system's error if the file cannot be saved
   */
  async add(givenName: string, content: AsyncIterable<Uint8Array>, as: RunAs): Promise<DeskFile> {
    mkdirSync(this.options.folder, { recursive: true, mode: 0o700 });
    const id = Math.max(0, ...this.savedIds()) + 1;
    mkdirSync(this.pathOf(id, '.'), { mode: 0o700 });
    try {
      await pipeline(content, createWriteStream(this.pathOf(id, 'file'), { mode: 0o600 }));
    } catch (error) {
      await this.erase(id);
      throw error;
    }
    const name = displayName(givenName);
    const file: DeskFile = { id, name, kind: undefined, proposing: this.propose(id, name, undefined, as) };
    this.files.set(id, file);
    this.save(id);
    return file;
  }

  private erase(id: number): Promise<void> {
    return rm(this.pathOf(id, '.'), { recursive: true, force: true });
  }

  /** Suggests a map again. @param sheet may be empty */
  readAs(file: DeskFile, kind: ImportKind, sheet: string, as: RunAs): void {
    file.proposing.stop();
    file.sheets = file.proposing.proposal?.sheets ?? file.sheets;
    Object.assign(file, { kind, given: undefined, choices: undefined, check: undefined });
    file.proposing = this.propose(file.id, file.name, kind, as, sheet);
    this.save(file.id);
  }

  private propose(id: number, name: string, kind: ImportKind | undefined, as: RunAs, sheet = ''): CommandRun {
    const kinds = kind === undefined ? [] : [kind];
    const sheets = sheet === '' ? [] : [`--sheet=${sheet}`];
    const args = ['import', 'map', ...kinds, this.pathOf(id, 'file'), '--file-name', name, ...sheets];
    return this.commands.start(args, as, () => {
      this.takeChoicesOfFirst(id, as);
      this.save(id);
    });
  }

  /** For a file of corrected rejects, takes over the choices of the original file. */
  private takeChoicesOfFirst(id: number, as: RunAs): void {
    const file = this.files.get(id);
    const proposal = file?.proposing.proposal;
    if (file === undefined || proposal === undefined || file.given !== undefined) return;
    const first = this.list().find(
      (other) => other !== file && isOfRejects(proposal, other.proposing.proposal),
    );
    if (first?.choices === undefined || first.kind === undefined) return;
    if (file.kind === undefined && first.kind !== proposal.document.kind) {
      this.readAs(file, first.kind, '', as);
      return;
    }
    file.given = { ...first.choices, replaces: undefined, skipInvalid: false, skipsHidden: false };
  }

  /** @param given may be faulty */
  give(file: DeskFile, given: ImportChoices): void {
    file.given = given;
    this.save(file.id);
  }

  startCheck(file: DeskFile, kind: ImportKind, choices: ImportChoices, as: RunAs): void {
    file.check?.stop();
    writeFileSync(this.pathOf(file.id, 'map.json'), choices.map, { mode: 0o600 });
    Object.assign(file, { kind, given: choices, choices });
    const args = [
      ...['import', kind, this.pathOf(file.id, 'file'), '--file-name', file.name, '--ask'],
      ...['--map', this.pathOf(file.id, 'map.json'), '--rejects', this.rejectsOf(file.id)],
      ...(choices.skipInvalid ? ['--skip-invalid'] : []),
      ...(choices.skipsHidden ? ['--skip-hidden'] : []),
      ...(choices.replaces === undefined ? [] : ['--replaces', String(choices.replaces)]),
    ];
    file.check = this.commands.start(args, as, () => this.save(file.id));
    this.save(file.id);
  }

  checkAgain(file: DeskFile, as: RunAs): void {
    const { kind, choices } = file;
    if (kind !== undefined && choices !== undefined) this.startCheck(file, kind, choices, as);
  }

  /** Confirms the import. If the check has ended or another user started the check, checks the file again. */
  startImport(file: DeskFile, as: RunAs): void {
    const { check } = file;
    if (check?.isAsking === true && check.user === as.user) check.agree();
    else this.checkAgain(file, as);
  }

  /** Path of the rejects, which exist only if rows were refused. */
  rejectsOf(id: number): string {
    return this.pathOf(id, 'rejects.csv');
  }

  async remove({ id, proposing, check }: DeskFile): Promise<void> {
    proposing.stop();
    check?.stop();
    this.files.delete(id);
    await this.erase(id);
  }

  isUndone({ check }: DeskFile): boolean {
    const id = check?.report?.importId;
    return id !== undefined && this.options.isUndone(id);
  }

  /** Ends all commands. Removes the files whose rows are all in the registry. */
  async close(): Promise<void> {
    await this.commands.close();
    for (const file of this.list()) if (this.isInRegistry(file)) await this.erase(file.id);
    const { folder } = this.options;
    if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
  }

  private isInRegistry(file: DeskFile): boolean {
    if (!isImported(file) || file.check?.report?.refusedRows !== 0) return false;
    try {
      return !this.isUndone(file);
    } catch (error) {
      // If the registry cannot be read, the file stays.
      if (error instanceof StorageError) return false;
      throw error;
    }
  }
}

export const isImported = ({ check }: DeskFile): boolean => check?.report?.outcome === 'imported';

/** True for the rejects of an original file: the same headings, followed by the column of reasons. */
function isOfRejects({ headings }: MapProposal, original: MapProposal | undefined): boolean {
  if (original === undefined) return false;
  const added = headings.slice(original.headings.length);
  return (
    added.some(({ text }) => addedColumnOf(text) === FAULTS_COLUMN) &&
    original.headings.every(({ text }, place) => text === headings[place]?.text)
  );
}

/** Returns the name without path and control characters, and with hidden national IDs. */
const displayName = (name: string): string => {
  const last = name.replace(/^.*[/\\]/su, '').replace(/\p{C}/gu, '');
  return hideIdentityCards([...last.trim()].slice(0, MAX_NAME_CHARACTERS).join('')) || 'file';
};

/** @throws Error if the desk was opened without `DeskFiles` */
export function deskFilesOf({ desk }: Pick<Visit, 'desk'>): DeskFiles {
  if (desk.files instanceof DeskFiles) return desk.files;
  throw new Error('The desk was opened without its files.');
}
