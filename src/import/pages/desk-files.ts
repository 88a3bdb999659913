/**
 * The files that were given to the desk, and the commands that read them. They belong to the desk, not to a
 * session: a user who returns finds them unchanged, even at the next desk. Their folder is readable by this
 * user only.
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
import { StorageError } from '../../sqlite/storage-error.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import type { MapProposal } from '../reading/propose-map.ts';
import { addedColumnOf } from '../table/recognise-headings.ts';
import { CommandQueue, CommandRun, type QueueOptions, type RestedRun, type RunAs } from './command-run.ts';

// The folder in which the desk keeps the files of a user from one desk to the next: for each file a folder,
// with its bytes and its state (docs/desk.md#import). Only the user can read it.

export interface ImportChoices {
  /** The map document, as a text. */
  readonly map: string;
  readonly replaces?: number | undefined;
  readonly skipInvalid: boolean;
}

interface KeptFile {
  readonly name: string;
  readonly kind: ImportKind | undefined;
  readonly sheets: readonly string[] | undefined;
  readonly given: ImportChoices | undefined;
  readonly choices: ImportChoices | undefined;
  /** Epoch of the registry's sequence when the file was checked. */
  readonly epoch: string;
  /** The user who gave the file, and when. */
  readonly as: Pick<RestedRun, 'user' | 'startedAt'>;
  readonly proposing: RestedRun | undefined;
  readonly check: RestedRun | undefined;
}

const STATE = 'state.json';
const FORGOTTEN: KeptFile = {
  ...{ name: 'file', kind: undefined, sheets: undefined, given: undefined, choices: undefined, epoch: '' },
  ...{ as: { user: '', startedAt: 0 }, proposing: undefined, check: undefined },
};

class DeskFolder {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Reads all files, the oldest first. An upload that was cut off is removed.
   * @throws the system's error if the folder cannot be read
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

  /** The state may be empty after a power cut: the file is there, and can be read again. */
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

  /** A full disk keeps the previous state: the desk continues with the one in memory. */
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

  /** Removes the folder if it is empty. */
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

export interface DeskFile {
  readonly id: number;
  /** The name that its owner gave it: shown, and never part of a path. */
  readonly name: string;
  /** The chosen kind; undefined while it is guessed. */
  kind: ImportKind | undefined;
  /** The run that proposes a map. */
  proposing: CommandRun;
  /** Sheets of a workbook from an earlier proposal: there may be none for the chosen sheet. */
  sheets?: readonly string[] | undefined;
  /** Choices last sent with the form, or those of the original file if this one has its refused rows. */
  given: ImportChoices | undefined;
  /** Choices that it was checked with. */
  choices: ImportChoices | undefined;
  /** The import with these choices, which asks when it has checked the file. */
  check: CommandRun | undefined;
  /** The same run, once a user has agreed. */
  import: CommandRun | undefined;
}

const MAX_NAME_CHARACTERS = 120;

interface DeskFilesOptions extends QueueOptions {
  readonly folder: string;
  /** Epoch of the registry's sequence: findings and imports of another one are not shown. */
  readonly epoch: string;
  /** True if an import was undone, at the desk or elsewhere. */
  readonly isUndone: (importId: number) => boolean;
}

export class DeskFiles {
  private readonly options: DeskFilesOptions;
  private readonly folder: DeskFolder;
  readonly commands: CommandQueue;
  private readonly files = new Map<number, DeskFile>();

  /** @throws the system's error if the folder cannot be read */
  constructor(options: DeskFilesOptions) {
    this.options = options;
    this.folder = new DeskFolder(options.folder);
    this.commands = new CommandQueue(options);
    for (const [id, kept] of this.folder.read()) this.files.set(id, this.fileOf(id, kept));
  }

  private fileOf(id: number, kept: KeptFile): DeskFile {
    const { name, kind, sheets, given, choices } = kept;
    const again = (run: KeptFile['check']) => run && CommandRun.again(run, this.options);
    const check = kept.epoch === this.options.epoch ? again(kept.check) : undefined;
    return {
      ...{ id, name, kind, sheets, check, import: check?.hasAgreed ? check : undefined },
      ...{ given: given ?? choices, choices: check && choices },
      proposing: again(kept.proposing) ?? this.propose(id, name, kind, { ...kept.as, language: 'en' }),
    };
  }

  /** Saves the state of a file, without runs at work: they end with the desk. */
  private keep(id: number): void {
    const file = this.files.get(id);
    if (file === undefined) return;
    const { name, kind, sheets, given, choices, proposing, check } = file;
    const { user, startedAt } = proposing;
    this.folder.keep(id, {
      ...{ name, kind, sheets, given, choices, epoch: this.options.epoch, as: { user, startedAt } },
      ...{ proposing: proposing.rested, check: check?.rested },
    });
  }

  /** All files, the newest first. */
  list(): readonly DeskFile[] {
    return [...this.files.values()].reverse();
  }

  find(id: number): DeskFile | undefined {
    return this.files.get(id);
  }

  /**
   * Saves a file and starts the proposal of its map.
   * @throws errors of `content`; the system's error if the disk takes no more
   */
  async add(name: string, content: AsyncIterable<Uint8Array>, as: RunAs): Promise<DeskFile> {
    const id = this.folder.add();
    const target = createWriteStream(this.folder.pathOf(id), { mode: 0o600 });
    try {
      await pipeline(content, target);
    } catch (error) {
      await this.folder.remove(id);
      throw error;
    }
    const shown = shownName(name);
    const file: DeskFile = {
      id,
      name: shown,
      kind: undefined,
      given: undefined,
      choices: undefined,
      check: undefined,
      import: undefined,
      proposing: this.propose(id, shown, undefined, as),
    };
    this.files.set(id, file);
    this.keep(id);
    return file;
  }

  /** Reads the file as another kind than the one that was guessed, or another sheet of a workbook. */
  readAs(file: DeskFile, kind: ImportKind, sheet: string, as: RunAs): void {
    file.proposing.stop();
    file.sheets = file.proposing.proposal?.sheets ?? file.sheets;
    Object.assign(file, { kind, given: undefined, choices: undefined, check: undefined, import: undefined });
    file.proposing = this.propose(file.id, file.name, kind, as, sheet);
    this.keep(file.id);
  }

  private propose(id: number, name: string, kind: ImportKind | undefined, as: RunAs, sheet = ''): CommandRun {
    const kinds = kind === undefined ? [] : [kind];
    const sheets = sheet === '' ? [] : [`--sheet=${sheet}`];
    const args = ['import', 'map', ...kinds, this.folder.pathOf(id), '--file-name', name, ...sheets];
    return this.commands.start(args, as, () => {
      this.takeChoicesOfFirst(id, as);
      this.keep(id);
    });
  }

  /** Applies the choices of the original file to its corrected refused rows. */
  private takeChoicesOfFirst(id: number, as: RunAs): void {
    const file = this.files.get(id);
    const proposal = file?.proposing.proposal;
    if (file === undefined || proposal === undefined || file.given !== undefined) return;
    const first = this.list().find((each) => each !== file && isOfRejects(proposal, each.proposing.proposal));
    if (first?.choices === undefined || first.kind === undefined) return;
    if (file.kind === undefined && first.kind !== proposal.document.kind) {
      this.readAs(file, first.kind, '', as);
      return;
    }
    file.given = { ...first.choices, replaces: undefined, skipInvalid: false };
  }

  /** Saves the choices sent with the form, even if the file cannot be checked with them. */
  give(file: DeskFile, given: ImportChoices): void {
    file.given = given;
    this.keep(file.id);
  }

  /** Checks the file with these choices, and asks. */
  startCheck(file: DeskFile, kind: ImportKind, choices: ImportChoices, as: RunAs): void {
    file.check?.stop();
    writeFileSync(this.folder.pathOf(file.id, 'map.json'), choices.map, { mode: 0o600 });
    Object.assign(file, { kind, given: choices, choices, import: undefined });
    file.check = this.commands.start(this.importArgs(file, kind, choices), as, () => this.keep(file.id));
    this.keep(file.id);
  }

  checkAgain(file: DeskFile, as: RunAs): void {
    const { kind, choices } = file;
    if (kind !== undefined && choices !== undefined) this.startCheck(file, kind, choices, as);
  }

  /** Imports what was checked; checks it again if that run was ended, or started by another user. */
  startImport(file: DeskFile, as: RunAs): void {
    const { check } = file;
    if (check?.isAsking === true && check.user === as.user) {
      file.import = check;
      check.agree();
    } else this.checkAgain(file, as);
  }

  private importArgs({ id, name }: DeskFile, kind: ImportKind, choices: ImportChoices): string[] {
    return [
      ...['import', kind, this.folder.pathOf(id), '--file-name', name, '--ask'],
      ...['--map', this.folder.pathOf(id, 'map.json'), '--rejects', this.rejectsOf(id)],
      ...(choices.skipInvalid ? ['--skip-invalid'] : []),
      ...(choices.replaces === undefined ? [] : ['--replaces', String(choices.replaces)]),
    ];
  }

  /** Path of the refused rows; there is no such file while none is refused. */
  rejectsOf(id: number): string {
    return this.folder.pathOf(id, 'rejects.csv');
  }

  async remove({ id, proposing, check, import: importing }: DeskFile): Promise<void> {
    for (const run of [proposing, check, importing]) run?.stop();
    this.files.delete(id);
    await this.folder.remove(id);
  }

  isUndone({ import: importing }: DeskFile): boolean {
    const id = importing?.report?.importId;
    return id !== undefined && this.options.isUndone(id);
  }

  /** Ends every command. Files that were imported in full are removed: the registry has their rows. */
  async close(): Promise<void> {
    await this.commands.close();
    for (const file of this.list()) if (this.isInRegistry(file)) await this.folder.remove(file.id);
    this.folder.close();
  }

  private isInRegistry(file: DeskFile): boolean {
    const report = file.import?.report;
    if (report?.outcome !== 'imported' || report.refusedRows > 0) return false;
    try {
      return !this.isUndone(file);
    } catch (error) {
      // A registry that cannot be read proves nothing.
      if (error instanceof StorageError) return false;
      throw error;
    }
  }
}

const textsOf = (proposal: MapProposal): readonly string[] => proposal.headings.map(({ text }) => text);

/**
 * True for a file with the refused rows of another one: it has the same headings, and one for the reasons.
 */
function isOfRejects(proposal: MapProposal, of: MapProposal | undefined): boolean {
  const texts = textsOf(proposal);
  const added = of && texts.slice(of.headings.length);
  return (
    of !== undefined &&
    added?.some((text) => addedColumnOf(text) === FAULTS_COLUMN) === true &&
    textsOf(of).every((text, place) => text === texts[place])
  );
}

/** The name without a path that a browser puts before it, control characters and national IDs. */
const shownName = (name: string): string => {
  const last = name.replace(/^.*[/\\]/su, '').replace(/\p{C}/gu, '');
  return hideIdentityCards([...last.trim()].slice(0, MAX_NAME_CHARACTERS).join('')) || 'file';
};

/** @throws Error if the desk was opened without its files */
export function deskFilesOf({ desk }: Pick<Visit, 'desk'>): DeskFiles {
  if (desk.files instanceof DeskFiles) return desk.files;
  throw new Error('The desk was opened without its files.');
}
