/** How far the reading of a file is, as a bar on a terminal. */
import { SingleBar } from 'cli-progress';
import { type ImportFile, nameOf } from '../../import/run/import-report.ts';
import type { CliContext } from '../terminal/context.ts';

export interface ProgressBar {
  update(file: ImportFile, bytesRead: number, bytes: number): void;
  /** Clears the bar and shows the cursor: before anything is printed, and before the command ends. */
  stop(): void;
}

/** Draws nothing where standard error is not a terminal. */
export function createProgressBar({ terminal }: CliContext): ProgressBar {
  let bar: SingleBar | undefined;
  let current: ImportFile | undefined;

  function stop(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    stop,
    update(file, bytesRead, bytes) {
      if (terminal === undefined) return;
      if (current !== file) {
        stop();
        current = file;
        const format = `${nameOf(file)} [{bar}] {percentage}% {duration_formatted}`;
        // Its own handling of signals would run after ours, which ends the command.
        bar = new SingleBar({
          format,
          stream: terminal,
          clearOnComplete: true,
          hideCursor: true,
          gracefulExit: false,
        });
        bar.start(bytes, 0);
      }
      bar?.update(bytesRead);
    },
  };
}
