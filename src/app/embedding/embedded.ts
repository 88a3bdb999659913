/** Everything that programs which embed the registry call, beside what serves. */
import type { ApiKeyStore } from '../../store/contract/api-keys.ts';
import { refusingExtraArguments } from './arguments.ts';
import { type CallDependencies, RouteCaller } from './call-route.ts';
import { type CorrectionDependencies, createCorrections, type EmbeddedCorrections } from './corrections.ts';
import { createKeys, type EmbeddedKeys, type KeyDependencies } from './keys.ts';
import { createReads, type EmbeddedReads } from './reads.ts';

export interface Embedded extends EmbeddedReads {
  /** Corrections of who is who, as the commands do them (docs/correcting.md). */
  readonly corrections: EmbeddedCorrections;
  /** API keys, for those who ask over HTTP (docs/keys.md). */
  readonly keys: EmbeddedKeys;
}

export type EmbeddedDependencies = CallDependencies &
  CorrectionDependencies &
  Omit<KeyDependencies, 'hasCooperative' | 'openKeys'> & { readonly keys: ApiKeyStore };

/** @returns the functions, and what closes the connections that they have opened */
export function createEmbedded(dependencies: EmbeddedDependencies): {
  readonly embedded: Embedded;
  close(): Promise<void>;
} {
  const { corrections, close } = createCorrections(dependencies);
  const reads = createReads(new RouteCaller(dependencies));
  const hasCooperative = async (id: number) => (await reads.cooperatives.get(id)) !== undefined;
  const keys = createKeys({ ...dependencies, openKeys: () => dependencies.keys, hasCooperative });
  return { embedded: refusingExtraArguments({ ...reads, corrections, keys }), close };
}
