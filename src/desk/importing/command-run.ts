/** A command in a process of its own: the desk shows what it says, and goes on answering meanwhile. */
import { type ChildProcess, fork } from 'node:child_process';
import { type Text, unpack } from '../../domain/values/message.ts';
import type { MapProposal } from '../../import/proposal/propose-map.ts';
import type { ImportNews, NewsPart, ReportNews } from '../../import/run/import-news.ts';
import type { Language } from '../../language/language.ts';

/** Beyond them nobody reads on. */
const [MOST_TEXTS, MOST_CHARACTERS] = [200, 4_000];

export interface CommandOptions {
  /** Path of the program. */
  readonly program: string;
  readonly storage: string;
  /** Such as `root`, or `N. N. (root)`: under whom changes are recorded. */
  readonly user: string;
  /** Of errors; what the command tells of a file is translated when it is shown. */
  readonly language: Language;
}

export class CommandRun {
  /** Share that is done; undefined while it waits or nothing is known. */
  progress: number | undefined;
  report: ReportNews | undefined;
  proposal: MapProposal | undefined;
  /** The end of what was written to standard error. */
  errors = '';
  /** Undefined until it has ended; null after a signal. */
  status: number | null | undefined;
  private readonly texts = new Map<NewsPart, Text[]>();
  private child: ChildProcess | undefined;
  private isStopped = false;

  textsOf(part: NewsPart): readonly Text[] {
    return this.texts.get(part) ?? [];
  }

  /** Never rejects. */
  async run(args: readonly string[], options: CommandOptions): Promise<void> {
    if (!this.isStopped) this.status = await this.execute(args, options);
    this.status ??= null;
  }

  private execute(
    args: readonly string[],
    { program, storage, user, language }: CommandOptions,
  ): Promise<number | null> {
    const named = /^(.*) \([^()]*\)$/s.exec(user)?.[1];
    const { REGISTRY_USER: _, ...env } = process.env;
    const child = fork(program, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
      env: {
        ...env,
        ...{ REGISTRY_DB: storage, LC_ALL: language === 'en' ? 'C' : language },
        ...(named === undefined ? {} : { REGISTRY_USER: named }),
      },
    });
    this.child = child;
    child.on('message', (news) => this.take(news as ImportNews));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + text).slice(-MOST_CHARACTERS);
    });
    return new Promise((resolve) => {
      child.once('error', () => resolve(null));
      child.once('close', (status) => resolve(status));
    });
  }

  private take(news: ImportNews): void {
    if ('progress' in news) this.progress = news.progress;
    else if ('report' in news) this.report = news.report;
    else if ('proposal' in news) this.proposal = news.proposal;
    else {
      const texts = this.texts.get(news.part) ?? [];
      this.texts.set(news.part, texts);
      if (texts.length < MOST_TEXTS) texts.push(unpack(news.text));
    }
  }

  /** As Ctrl-C does: what is not committed yet is taken back. */
  stop(): void {
    this.isStopped = true;
    this.child?.kill('SIGTERM');
  }
}
