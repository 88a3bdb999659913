/** Runs commands for the desk, in separate processes. After a preview, a command waits for confirmation. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Visit } from '../../desk/screen.ts';
import type { Language } from '../../values/language.ts';
import { say, type Text, unpack } from '../../values/message.ts';
import type { ColumnChanges, FirstRow, ImportNews, NewsPart, ReportNews } from '../import-report.ts';
import type { MapProposal } from '../reading/propose-map.ts';

/** Maximum number of messages of each part, and of characters of error output, that a run stores. */
const [MOST_TEXTS, MOST_CHARACTERS] = [200, 4_000];

export interface RunAs {
  /** User recorded with the changes, such as `root` or `N. N. (root)`. */
  readonly user: string;
  /** Language of error messages. Messages about a file are translated when they are shown. */
  readonly language: Language;
  /** Epoch seconds. */
  readonly startedAt: number;
}

export const runAs = ({ session, language, now }: Visit): RunAs => ({
  user: session.user,
  language,
  startedAt: now,
});

export const OUTDATED = say('The data has changed in the meantime. Check it again.');

export interface QueueOptions {
  readonly program: string;
  readonly storage: string;
  readonly environment: NodeJS.ProcessEnv;
}

interface RunMessage {
  readonly text: Text;
  /** Numbers of the first few lines that the message is about. */
  readonly lines: readonly number[];
}

/** Saved state of a run that has ended or waits for confirmation, which a restarted desk shows again. */
export interface RestedRun extends Omit<RunAs, 'language'> {
  readonly args: readonly string[];
  readonly news: readonly ImportNews[];
  readonly output: string;
  readonly errors: string;
  readonly hasAgreed: boolean;
  /** Exit status; null after a signal, and if the run was waiting for confirmation. */
  readonly status: number | null;
}

/** Maximum wait for confirmation. A waiting process occupies memory and disk space for its checked rows. */
const PATIENCE_MS = 30 * 60_000;

let lastId = 0;

export class CommandRun {
  /** Confirmations name this id, because the user may have started another run in another tab. */
  readonly id = ++lastId;
  /** From 0 to 1; undefined before the first report. */
  progress: number | undefined;
  report: ReportNews | undefined;
  proposal: MapProposal | undefined;
  firstRows: readonly FirstRow[] = [];
  roundableColumns: readonly string[] = [];
  changes: readonly ColumnChanges[] = [];
  names: { readonly [line: number]: string } = {};
  sheets: readonly string[] | undefined;
  /** The last part of the standard error output. */
  errors = '';
  /** Exit status; undefined while the process runs, null after a signal. */
  status: number | null | undefined;
  isAsking = false;
  hasBegun = false;
  hasAgreed = false;
  readonly user: string;
  readonly startedAt: number;
  readonly args: readonly string[];
  private readonly messages = new Map<NewsPart, RunMessage[]>();
  /** All messages except progress. */
  private news: ImportNews[] = [];
  private readonly options: QueueOptions & RunAs;
  private output = '';
  private parsed: unknown;
  private readonly onRest: () => void;
  private child: ChildProcess | undefined;

  /** @param onRest called when the command begins to wait for confirmation, and when it has ended */
  constructor(args: readonly string[], options: QueueOptions & RunAs, onRest: () => void) {
    [this.args, this.options, this.onRest] = [args, options, onRest];
    [this.user, this.startedAt] = [options.user, options.startedAt];
  }

  static again({ args, user, startedAt, news, ...state }: RestedRun, options: QueueOptions): CommandRun {
    const run = new CommandRun(args, { ...options, user, startedAt, language: 'en' }, () => {});
    for (const message of news) run.take(message);
    return Object.assign(run, state, { hasBegun: true });
  }

  /** Undefined while the command works or waits for its start. */
  get rested(): RestedRun | undefined {
    if (this.isAtWork) return undefined;
    const { args, user, startedAt, news, output, errors, hasAgreed, status = null } = this;
    return { args, user, startedAt, news, output, errors, hasAgreed, status };
  }

  /** True while the command works or waits for its start. */
  get isAtWork(): boolean {
    return this.status === undefined && !this.isAsking;
  }

  textsOf(part: NewsPart): readonly Text[] {
    return this.messagesOf(part).map(({ text }) => text);
  }

  messagesOf(part: NewsPart): readonly RunMessage[] {
    return this.messages.get(part) ?? [];
  }

  /** JSON document that the command printed; undefined before its end and after a failure. */
  get document(): unknown {
    if (this.status === 0 || this.status === 1) this.parsed ??= this.output && JSON.parse(this.output);
    return this.parsed || undefined;
  }

  begin(): void {
    const { program, storage, user, language, environment } = this.options;
    const operator = /^(.*) \([^()]*\)$/s.exec(user)?.[1];
    const { REGISTRY_USER: _, ...env } = environment;
    this.hasBegun = true;
    const child = fork(program, this.args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [],
      env: {
        ...env,
        REGISTRY_DB: storage,
        LC_ALL: language === 'en' ? 'C' : language,
        ...(operator === undefined ? {} : { REGISTRY_USER: operator }),
      },
    });
    this.child = child;
    child.on('message', (news) => this.take(news as ImportNews));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + text).slice(-MOST_CHARACTERS);
    });
    child.once('error', () => this.end(null)).once('close', (status) => this.end(status));
  }

  private end(status: number | null): void {
    [this.status, this.isAsking] = [status, false];
    this.onRest();
  }

  private take(news: ImportNews): void {
    if ('asks' in news) {
      this.isAsking = true;
      setTimeout(() => this.letGo(), PATIENCE_MS).unref();
      this.onRest();
      return;
    }
    if ('part' in news) {
      const messages = this.messages.get(news.part) ?? [];
      this.messages.set(news.part, messages);
      if (messages.length >= MOST_TEXTS) return;
      messages.push({ text: unpack(news.text), lines: news.lines ?? [] });
    }
    // Any other message sets the property with the same name as the message's key.
    else Object.assign(this, news);
    if (!('progress' in news)) this.news.push(news);
  }

  agree(): void {
    this.isAsking = false;
    this.hasAgreed = true;
    this.messages.delete('changed');
    this.changes = [];
    this.news = this.news.filter(
      (news) => !('changes' in news || ('part' in news && news.part === 'changed')),
    );
    this.child?.send('yes', () => {});
  }

  /** Ends a run that waits for confirmation. Its findings stay readable. */
  letGo(): void {
    if (!this.isAsking) return;
    this.isAsking = false;
    this.child?.removeAllListeners('message');
    this.stop();
  }

  /** Ends the command like Ctrl-C: uncommitted changes are rolled back. */
  stop(): void {
    if (this.child !== undefined) this.child.kill('SIGTERM');
    else this.end(null);
  }
}

/** Maximum number of processes that work, and of processes that wait for confirmation. */
const [MOST_AT_WORK, MOST_ASKING] = [2, 3];

/** Commands that print one JSON document and would take too long for a request. */
const WORKS = {
  backup: ['backup'],
  check: ['check'],
  duplicates: ['duplicates'],
  contradictions: ['duplicates', '--contradictions'],
} as const;
export type Work = keyof typeof WORKS;

export class CommandQueue {
  private readonly options: QueueOptions;
  /** Runs that have not ended, in the order of their start. */
  private readonly runs = new Set<CommandRun>();
  /** Last run of each command in `WORKS`, and of `imports undo` for each import. */
  private readonly last = new Map<Work | number, CommandRun>();

  constructor(options: QueueOptions) {
    this.options = options;
  }

  start(args: readonly string[], as: RunAs, onRest: () => void = () => {}): CommandRun {
    const run = new CommandRun(args, { ...this.options, ...as }, () => {
      onRest();
      this.goOn();
    });
    this.runs.add(run);
    this.goOn();
    return run;
  }

  /** Starts queued runs up to `MOST_AT_WORK`. Ends the oldest waiting runs beyond `MOST_ASKING`. */
  private goOn(): void {
    for (const run of this.runs) if (run.status !== undefined) this.runs.delete(run);
    const runs = [...this.runs];
    for (const run of runs.filter(({ hasBegun }) => !hasBegun))
      if (runs.filter(({ hasBegun, isAtWork }) => hasBegun && isAtWork).length < MOST_AT_WORK) run.begin();
    for (const run of runs.filter(({ isAsking }) => isAsking).slice(0, -MOST_ASKING)) run.letGo();
  }

  /** @param work for an undo, the id of the import */
  lastOf(work: Work | number): CommandRun | undefined {
    return this.last.get(work);
  }

  startUndo(importId: number, as: RunAs): void {
    this.last.get(importId)?.stop();
    this.last.set(importId, this.start(['imports', 'undo', String(importId)], as));
  }

  /** Starts the command, or returns its current run if the command is already at work. */
  startWork(work: Work, args: readonly string[], as: RunAs): CommandRun {
    const last = this.last.get(work);
    const run = last?.isAtWork ? last : this.start([...WORKS[work], ...args, '--json'], as);
    this.last.set(work, run);
    return run;
  }

  async close(): Promise<void> {
    for (const run of this.runs) {
      if (run.isAsking) run.letGo();
      else run.stop();
    }
    while (this.runs.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
