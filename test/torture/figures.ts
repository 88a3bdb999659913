/** What `make torture` prints: a line for each promise, beside a planted fault that it must catch. */

export interface Figure {
  /** What was done to the registry. */
  readonly what: string;
  readonly howOften: string;
  /** What was lost, done twice or by half. */
  readonly lost: number;
  /** The planted fault, and how often it was caught. */
  readonly fault: string;
  readonly caught: string;
  readonly isCaught: boolean;
}

/** What a part reports while it runs. */
export type Progress = (text: string) => void;

export interface TortureOptions {
  /** Small: seconds, so that a test can run it. */
  readonly isSmall: boolean;
  readonly seed: number;
  /** A folder of its own, which is removed afterwards. */
  readonly folder: string;
  readonly progress: Progress;
}

/** A part that this machine cannot run says why. */
export type Outcome = { readonly figures: readonly Figure[] } | { readonly skipped: string };
export type Part = (options: TortureOptions) => Promise<Outcome>;

export const isGood = ({ lost, isCaught }: Figure): boolean => lost === 0 && isCaught;
