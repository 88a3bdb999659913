/**
 * What storage promises to the rest of the program. These tests know only its functions: what opens a storage
 * location of its own is passed to them.
 */
import type { TestContext } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { type ApiKeyStore, openKeys as openKeysIn } from '../../../src/access/api-key-store.ts';
import { openRegistry as openRegistryIn, type RegistryStore } from '../../../src/open-registry.ts';
import type { Storage, StorageUse } from '../../../src/sqlite/storage.ts';

export interface Engine {
  readonly name: string;
  /**
   * An empty location, removed after the test. Opening the same location again is what another process does.
   */
  createLocation(context: TestContext): string;
  openStorage(location: string): Storage;
}

export interface Place {
  readonly storage: Storage;
  /** The same location, as another process has it. */
  readonly elsewhere: Storage;
}

export function openPlace(engine: Engine, context: TestContext): Place {
  const location = engine.createLocation(context);
  return { storage: engine.openStorage(location), elsewhere: engine.openStorage(location) };
}

/** A registry that is closed after the test. */
export function openRegistry(context: TestContext, storage: Storage): RegistryStore {
  const store = openRegistryIn(storage);
  context.after(() => store.close());
  return store;
}

/** Keys that are closed after the test. */
export function openKeys(context: TestContext, storage: Storage, use: StorageUse): ApiKeyStore {
  const keys = openKeysIn(storage, use);
  context.after(() => keys.close());
  return keys;
}

/** What an engine has read for one iteration of the event loop may be seen until its end. */
export async function nextIteration(): Promise<void> {
  await immediate();
  await immediate();
}
