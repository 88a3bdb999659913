/**
 * The files that were given to the desk, and the commands that read them. They belong to the desk, not to a
 * session: whoever comes back finds them as they are, also at the next desk. They are in a folder that only
 * this user can read.
 */
import { createWriteStream, writeFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { MapProposal } from '../../import/proposal/propose-map.ts';
import { addedColumnOf, FAULTS_COLUMN } from '../../import/table/headings.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { StorageError } from '../../store/contract/storage-error.ts';
import { CommandQueue, type QueueOptions } from './command-queue.ts';
import { CommandRun, type RunAs } from './command-run.ts';
import { DeskFolder, type ImportChoices, type KeptFile } from './desk-folder.ts';

export interface DeskFile {
  readonly id: number;
  /** What its owner calls it: shown, and never part of a path. */
  readonly name: string;
  /** Chosen; until then it is guessed. */
  kind: ImportKind | undefined;
  /** Proposes how it is read. */
  proposing: CommandRun;
  /** Of a workbook, as of an earlier proposal: there may be none for the sheet that was chosen. */
  sheets?: readonly string[] | undefined;
  /** What the form was last sent with, or a file was checked with of which this one has the refused rows. */
  given: ImportChoices | undefined;
  /** What it was checked with. */
  choices: ImportChoices | undefined;
  /** The import of these choices, which asks when it has checked the file. */
  check: CommandRun | undefined;
  /** The same, once somebody has agreed. */
  import: CommandRun | undefined;
}

const MAX_NAME_CHARACTERS = 120;

export interface DeskFilesOptions extends QueueOptions {
  /** Where the files are kept. */
  readonly folder: string;
  /** Of the registry's sequence: what was found or imported in another one is not shown. */
  readonly epoch: string;
  /** Whether an import was undone, here or elsewhere. */
  readonly isUndone: (importId: number) => boolean;
}

export class DeskFiles {
  private readonly options: DeskFilesOptions;
  private readonly folder: DeskFolder;
  readonly commands: CommandQueue;
  private readonly files = new Map<number, DeskFile>();

  /** @throws the system's error when the folder cannot be read */
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

  /** Keeps what is known of a file. What is being done is not: it ends with the desk. */
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

  /** The newest first. */
  list(): readonly DeskFile[] {
    return [...this.files.values()].reverse();
  }

  find(id: number): DeskFile | undefined {
    return this.files.get(id);
  }

  /**
   * Keeps a file and lets its map be proposed.
   * @throws what `content` throws; the system's error when the disk takes no more
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

  /** Refused rows that come back corrected are read as the file was that they are of. */
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

  /** Keeps what the form was sent with, whether the file can be checked with it or not. */
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

  /** Checks it again with the same choices. */
  checkAgain(file: DeskFile, as: RunAs): void {
    const { kind, choices } = file;
    if (kind !== undefined && choices !== undefined) this.startCheck(file, kind, choices, as);
  }

  /** Imports what was checked; checks it again if it was let go, or started by another user. */
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

  /** Where the refused rows are written; there is no such file while none is refused. */
  rejectsOf(id: number): string {
    return this.folder.pathOf(id, 'rejects.csv');
  }

  async remove({ id, proposing, check, import: importing }: DeskFile): Promise<void> {
    for (const run of [proposing, check, importing]) run?.stop();
    this.files.delete(id);
    await this.folder.remove(id);
  }

  /** Whether what was imported was undone. */
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
      // A registry that cannot be read says nothing.
      if (error instanceof StorageError) return false;
      throw error;
    }
  }
}

const textsOf = (proposal: MapProposal): readonly string[] => proposal.headings.map(({ text }) => text);

/** Whether a file has refused rows of another one: its headings are those, and one for the reasons. */
function isOfRejects(proposal: MapProposal, of: MapProposal | undefined): boolean {
  const texts = textsOf(proposal);
  const added = of && texts.slice(of.headings.length);
  return (
    of !== undefined &&
    added?.some((text) => addedColumnOf(text) === FAULTS_COLUMN) === true &&
    textsOf(of).every((text, place) => text === texts[place])
  );
}

/** Without what a browser puts before it, control characters and national IDs. */
const shownName = (name: string): string => {
  const last = name.replace(/^.*[/\\]/su, '').replace(/\p{C}/gu, '');
  return hideIdentityCards([...last.trim()].slice(0, MAX_NAME_CHARACTERS).join('')) || 'file';
};
