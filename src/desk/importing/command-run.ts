/** A command in a process of its own: the desk shows what it says, and goes on answering meanwhile. */
import { type ChildProcess, fork } from 'node:child_process';
import { type Text, unpack } from '../../domain/values/message.ts';
import type { MapProposal } from '../../import/proposal/propose-map.ts';
import type {
  ColumnChanges,
  FirstRow,
  ImportNews,
  NewsPart,
  ReportNews,
} from '../../import/run/import-news.ts';
import type { Language } from '../../language/language.ts';

/** Beyond them nobody reads on. */
const [MOST_TEXTS, MOST_CHARACTERS] = [200, 4_000];

export interface CommandOptions {
  /** Path of the program. */
  readonly program: string;
  readonly storage: string;
  /** Of its process. */
  readonly environment: NodeJS.ProcessEnv;
  /** Such as `root`, or `N. N. (root)`: under whom changes are recorded. */
  readonly user: string;
  /** Of errors; what the command tells of a file is translated when it is shown. */
  readonly language: Language;
  /** Epoch seconds. */
  readonly startedAt: number;
}

/** Under whom, and in which language, a command runs. */
export type RunAs = Pick<CommandOptions, 'user' | 'language' | 'startedAt'>;

/** A sentence, and the first lines of the file that it is about. */
export interface Told {
  readonly text: Text;
  readonly lines: readonly number[];
}

/** Of one that has come to rest, what is kept to show it again in another process. */
export interface RestedRun extends Pick<CommandOptions, 'user' | 'startedAt'> {
  readonly args: readonly string[];
  readonly news: readonly ImportNews[];
  readonly output: string;
  readonly errors: string;
  readonly hasAgreed: boolean;
  /** Null also of one that asked: nobody can agree to it any more. */
  readonly status: number | null;
}

/** How long one waits for an answer: it keeps what it has checked, in memory and on the disk. */
const PATIENCE_MS = 30 * 60_000;

let lastId = 0;

export class CommandRun {
  /** Whoever agrees says to which one: another tab may have started another. */
  readonly id = ++lastId;
  /** Share that is done; undefined while it waits or nothing is known. */
  progress: number | undefined;
  report: ReportNews | undefined;
  proposal: MapProposal | undefined;
  firstRows: readonly FirstRow[] = [];
  changes: readonly ColumnChanges[] = [];
  /** By line of the file. */
  names: { readonly [line: number]: string } = {};
  /** Of a workbook of which none was chosen. */
  sheets: readonly string[] | undefined;
  /** The end of what was written to standard error. */
  errors = '';
  /** Undefined until it has ended; null after a signal. */
  status: number | null | undefined;
  /** It has reported what it would do, and does it when somebody agrees. */
  isAsking = false;
  hasBegun = false;
  hasAgreed = false;
  readonly user: string;
  readonly startedAt: number;
  readonly args: readonly string[];
  private readonly texts = new Map<NewsPart, Told[]>();
  /** All that is shown of what it has told. */
  private news: ImportNews[] = [];
  private readonly options: CommandOptions;
  private output = '';
  private parsed: unknown;
  private readonly onRest: () => void;
  private child: ChildProcess | undefined;

  /** @param onRest called whenever it is at work no more */
  constructor(args: readonly string[], options: CommandOptions, onRest: () => void) {
    [this.args, this.options, this.onRest] = [args, options, onRest];
    [this.user, this.startedAt] = [options.user, options.startedAt];
  }

  /** One that has ended in another process of the desk. */
  static again(rested: RestedRun, options: Omit<CommandOptions, keyof RunAs>): CommandRun {
    const { args, user, startedAt, news, output, errors, hasAgreed, status } = rested;
    const run = new CommandRun(args, { ...options, user, startedAt, language: 'en' }, () => {});
    for (const each of news) run.take(each);
    [run.output, run.errors, run.hasAgreed, run.status] = [output, errors, hasAgreed, status];
    run.hasBegun = true;
    return run;
  }

  /** Undefined while it is at work. */
  get rested(): RestedRun | undefined {
    if (this.isAtWork) return undefined;
    const { args, user, startedAt, news, output, errors, hasAgreed, status = null } = this;
    return { args, user, startedAt, news, output, errors, hasAgreed, status };
  }

  /** Or waits for its turn. */
  get isAtWork(): boolean {
    return this.status === undefined && !this.isAsking;
  }

  textsOf(part: NewsPart): readonly Text[] {
    return this.toldOf(part).map(({ text }) => text);
  }

  /** The same, with the lines of the file that each is about. */
  toldOf(part: NewsPart): readonly Told[] {
    return this.texts.get(part) ?? [];
  }

  /** What it has printed as JSON; undefined before its end, and when it has failed. */
  get document(): unknown {
    if (this.status === 0 || this.status === 1) this.parsed ??= this.output && JSON.parse(this.output);
    return this.parsed || undefined;
  }

  begin(): void {
    const { program, storage, user, language, environment } = this.options;
    const named = /^(.*) \([^()]*\)$/s.exec(user)?.[1];
    const { REGISTRY_USER: _, ...env } = environment;
    this.hasBegun = true;
    const child = fork(program, this.args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [],
      env: {
        ...env,
        REGISTRY_DB: storage,
        LC_ALL: language === 'en' ? 'C' : language,
        ...(named === undefined ? {} : { REGISTRY_USER: named }),
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
    if ('progress' in news) {
      this.progress = news.progress;
      return;
    }
    if ('asks' in news) {
      this.isAsking = true;
      setTimeout(() => this.letGo(), PATIENCE_MS).unref();
      this.onRest();
      return;
    }
    if ('report' in news) this.report = news.report;
    else if ('firstRows' in news) this.firstRows = news.firstRows;
    else if ('proposal' in news) this.proposal = news.proposal;
    else if ('changes' in news) this.changes = news.changes;
    else if ('names' in news) this.names = news.names;
    else if ('sheets' in news) this.sheets = news.sheets;
    else {
      const texts = this.texts.get(news.part) ?? [];
      this.texts.set(news.part, texts);
      if (texts.length >= MOST_TEXTS) return;
      texts.push({ text: unpack(news.text), lines: news.lines ?? [] });
    }
    this.news.push(news);
  }

  /** Lets it do what it has reported. */
  agree(): void {
    this.isAsking = false;
    this.hasAgreed = true;
    this.texts.delete('changed');
    this.changes = [];
    this.news = this.news.filter(
      (each) => !('changes' in each || ('part' in each && each.part === 'changed')),
    );
    this.child?.send('yes', () => {});
  }

  /** Nobody has agreed: what it has found stays to be read. */
  letGo(): void {
    if (!this.isAsking) return;
    this.isAsking = false;
    this.child?.removeAllListeners('message');
    this.stop();
  }

  /** As Ctrl-C does: what is not committed yet is taken back. */
  stop(): void {
    if (this.child !== undefined) this.child.kill('SIGTERM');
    else this.end(null);
  }
}
