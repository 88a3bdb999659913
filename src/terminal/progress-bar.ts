/** Progress of a command with a file, as a bar on a terminal. */

import { SingleBar } from 'cli-progress';
import type { CliContext } from './context.ts';

/** Draws nothing if standard error is not a terminal. */
export function createProgressBar({ terminal }: CliContext) {
  let bar: SingleBar | undefined;
  let current: string | undefined;

  /** Clears the bar and shows the cursor. Call before printing, and before the command ends. */
  function stop(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    stop,
    /** @param name file being read or written; another name starts another bar */
    update(name: string, done: number, total: number): void {
      if (terminal === undefined) return;
      if (current !== name) {
        stop();
        current = name;
        const format = `${name} [{bar}] {percentage}% {duration_formatted}`;
        // The bar's own handling of signals would run after the command's, which ends it.
        const looks = { clearOnComplete: true, hideCursor: true, gracefulExit: false };
        bar = new SingleBar({ format, stream: terminal, ...looks });
        bar.start(total, 0);
      }
      bar?.update(done);
    },
  };
}
