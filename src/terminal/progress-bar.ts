/** Progress bar of a command. */
import { SingleBar } from 'cli-progress';
import type { CliContext } from './context.ts';

/** Draws nothing unless standard error is a terminal. */
export function createProgressBar({ terminal }: CliContext) {
  let bar: SingleBar | undefined;
  let current: string | undefined;

  /** Clears the bar and shows the cursor. Must be called before the command prints or ends. */
  function stop(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    stop,
    /** A new name starts a new bar. */
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
