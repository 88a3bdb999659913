/** Progress bar on a terminal. */

import { SingleBar } from 'cli-progress';
import type { CliContext } from './context.ts';

/** Draws nothing if standard error is not a terminal. */
export function createProgressBar({ terminal }: CliContext) {
  let bar: SingleBar | undefined;
  let current: string | undefined;

  /** Clears the bar and shows the cursor. Must be called before printing, and at the end of the command. */
  function stop(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    stop,
    /** @param name name of the file; another name starts another bar */
    update(name: string, done: number, total: number): void {
      if (terminal === undefined) return;
      if (current !== name) {
        stop();
        current = name;
        const format = `${name} [{bar}] {percentage}% {duration_formatted}`;
        // The command handles signals, and stops the bar.
        const looks = { clearOnComplete: true, hideCursor: true, gracefulExit: false };
        bar = new SingleBar({ format, stream: terminal, ...looks });
        bar.start(total, 0);
      }
      bar?.update(done);
    },
  };
}
