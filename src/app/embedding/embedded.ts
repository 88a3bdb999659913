/** Everything that programs which embed the registry call, beside what serves. */
import { type CallDependencies, RouteCaller } from './call-route.ts';
import { type CorrectionDependencies, createCorrections, type EmbeddedCorrections } from './corrections.ts';
import { createReads, type EmbeddedReads } from './reads.ts';

export interface Embedded extends EmbeddedReads {
  /** Corrections of who is who, as the commands do them (docs/correcting.md). */
  readonly corrections: EmbeddedCorrections;
}

export interface EmbeddedDependencies extends CallDependencies, CorrectionDependencies {}

/** @returns the functions, and what closes the connections that they have opened */
export function createEmbedded(dependencies: EmbeddedDependencies): {
  readonly embedded: Embedded;
  close(): Promise<void>;
} {
  const { corrections, close } = createCorrections(dependencies);
  return { embedded: { ...createReads(new RouteCaller(dependencies)), corrections }, close };
}
