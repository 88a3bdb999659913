/**
 * The files that were given to the desk, and the commands that read them. They belong to the desk, not to a
 * session: whoever comes back finds them as they are. They are in a folder that only this user can read, and
 * which is removed with the desk.
 */
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { type CommandOptions, CommandRun } from './command-run.ts';

/** Under whom, and in which language, a command runs. */
export type RunAs = Pick<CommandOptions, 'user' | 'language' | 'startedAt'>;

/** Commands that take longer than a page may, and print one JSON document. */
const WORKS = {
  backup: ['backup'],
  check: ['check'],
  duplicates: ['duplicates'],
  contradictions: ['duplicates', '--contradictions'],
} as const;
export type Work = keyof typeof WORKS;

/** What is decided beside the map. */
export interface ImportChoices {
  /** Of the map that was chosen. */
  readonly map: string;
  readonly replaces?: number | undefined;
  readonly skipInvalid: boolean;
}

export interface DeskFile {
  readonly id: number;
  /** What its owner calls it: shown, and never part of a path. */
  readonly name: string;
  readonly bytes: number;
  /** Chosen; until then it is guessed. */
  kind: ImportKind | undefined;
  /** Proposes how it is read. */
  proposing: CommandRun;
  /** Of a workbook, as of an earlier proposal: there may be none for the sheet that was chosen. */
  sheets?: readonly string[] | undefined;
  /** What was last chosen in each field of the form. */
  given?: ((field: string) => string) | undefined;
  choices: ImportChoices | undefined;
  /** The import of these choices, which asks when it has checked the file. */
  check: CommandRun | undefined;
  /** The same, once somebody has agreed. */
  import: CommandRun | undefined;
}

/** Commands at once: each is a process with a registry open. Those that ask hold what they have checked. */
const [MOST_AT_WORK, MOST_ASKING] = [2, 3];
const MAX_NAME_CHARACTERS = 120;

export class DeskFiles {
  private readonly options: Pick<CommandOptions, 'program' | 'storage' | 'environment'>;
  private readonly files = new Map<number, DeskFile>();
  private readonly undos = new Map<number, CommandRun>();
  private readonly works = new Map<Work, CommandRun>();
  /** Those that have not ended, in the order in which they begin. */
  private readonly runs = new Set<CommandRun>();
  private folder: string | undefined;
  private lastId = 0;

  constructor(options: Pick<CommandOptions, 'program' | 'storage' | 'environment'>) {
    this.options = options;
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
    const id = ++this.lastId;
    await mkdir(this.folderOf(id), { mode: 0o700 });
    const target = createWriteStream(this.pathOf(id), { mode: 0o600 });
    try {
      await pipeline(content, target);
    } catch (error) {
      await this.removeFolder(id);
      throw error;
    }
    const shown = shownName(name);
    const file: DeskFile = {
      id,
      name: shown,
      bytes: target.bytesWritten,
      kind: undefined,
      choices: undefined,
      check: undefined,
      import: undefined,
      proposing: this.propose(id, shown, undefined, as),
    };
    this.files.set(id, file);
    return file;
  }

  /** Reads the file as another kind than the one that was guessed, or another sheet of a workbook. */
  readAs(file: DeskFile, kind: ImportKind, sheet: string, as: RunAs): void {
    file.proposing.stop();
    file.sheets = file.proposing.proposal?.sheets ?? file.sheets;
    Object.assign(file, { kind, given: undefined, choices: undefined, check: undefined, import: undefined });
    file.proposing = this.propose(file.id, file.name, kind, as, sheet);
  }

  private propose(id: number, name: string, kind: ImportKind | undefined, as: RunAs, sheet = ''): CommandRun {
    const kinds = kind === undefined ? [] : [kind];
    const sheets = sheet === '' ? [] : [`--sheet=${sheet}`];
    return this.start(['import', 'map', ...kinds, this.pathOf(id), '--file-name', name, ...sheets], as);
  }

  /** Checks the file with these choices, and asks. */
  startCheck(file: DeskFile, kind: ImportKind, choices: ImportChoices, as: RunAs): void {
    file.check?.stop();
    writeFileSync(this.pathOf(file.id, 'map.json'), choices.map, { mode: 0o600 });
    Object.assign(file, { kind, choices, import: undefined });
    file.check = this.start(this.importArgs(file, kind, choices), as);
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
      ...['import', kind, this.pathOf(id), '--file-name', name, '--ask'],
      ...['--map', this.pathOf(id, 'map.json'), '--rejects', this.rejectsOf(id)],
      ...(choices.skipInvalid ? ['--skip-invalid'] : []),
      ...(choices.replaces === undefined ? [] : ['--replaces', String(choices.replaces)]),
    ];
  }

  /** The undo of an import that was asked for last: it shows what it would do, and asks. */
  undoOf(importId: number): CommandRun | undefined {
    return this.undos.get(importId);
  }

  startUndo(importId: number, as: RunAs): void {
    this.undos.get(importId)?.stop();
    this.undos.set(importId, this.start(['imports', 'undo', String(importId)], as));
  }

  /** Whether it was undone here. */
  isUndone({ import: importing }: DeskFile): boolean {
    return this.undos.get(importing?.report?.importId ?? 0)?.status === 0;
  }

  /** The last run of a command, whoever has started it: it goes on when the page is closed. */
  workOf(work: Work): CommandRun | undefined {
    return this.works.get(work);
  }

  /** Starts it, unless it is at work. */
  startWork(work: Work, args: readonly string[], as: RunAs): CommandRun {
    const last = this.works.get(work);
    const run = last?.isAtWork ? last : this.start([...WORKS[work], ...args, '--json'], as);
    this.works.set(work, run);
    return run;
  }

  /** Where the refused rows are written; there is no such file while none is refused. */
  rejectsOf(id: number): string {
    return this.pathOf(id, 'rejects.csv');
  }

  async remove({ id, proposing, check, import: importing }: DeskFile): Promise<void> {
    for (const run of [proposing, check, importing]) run?.stop();
    this.files.delete(id);
    await this.removeFolder(id);
  }

  /** Ends every command, and removes the files. */
  async close(): Promise<void> {
    for (const run of this.runs) run.stop();
    while (this.runs.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }

  private start(args: readonly string[], as: RunAs): CommandRun {
    const run = new CommandRun(args, { ...this.options, ...as }, () => this.goOn());
    this.runs.add(run);
    this.goOn();
    return run;
  }

  /** Begins what waits as far as there is room, and lets the oldest of too many that ask go. */
  private goOn(): void {
    for (const run of this.runs) if (run.status !== undefined) this.runs.delete(run);
    const runs = [...this.runs];
    for (const run of runs.filter(({ hasBegun }) => !hasBegun))
      if (runs.filter(({ hasBegun, isAtWork }) => hasBegun && isAtWork).length < MOST_AT_WORK) run.begin();
    for (const run of runs.filter(({ isAsking }) => isAsking).slice(0, -MOST_ASKING)) run.letGo();
  }

  private folderOf(id: number): string {
    if (this.folder === undefined) {
      // `mkdtemp` makes it for this user alone.
      const folder = mkdtempSync(join(tmpdir(), 'registry-desk-'));
      this.folder = folder;
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    }
    return join(this.folder, String(id));
  }

  private pathOf(id: number, name = 'file'): string {
    return join(this.folderOf(id), name);
  }

  private removeFolder(id: number): Promise<void> {
    return rm(this.folderOf(id), { recursive: true, force: true });
  }
}

/** Without what a browser puts before it, control characters and national IDs. */
const shownName = (name: string): string => {
  const last = name.replace(/^.*[/\\]/su, '').replace(/\p{C}/gu, '');
  return hideIdentityCards([...last.trim()].slice(0, MAX_NAME_CHARACTERS).join('')) || 'file';
};
