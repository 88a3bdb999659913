/** What commands and the desk do with API keys (docs/keys.md). */

import type { ApiKeyStore } from '../access/api-key-store.ts';
import {
  type ApiKey,
  type ApiKeyValues,
  parseOverlap,
  UNRESTRICTED,
  warningsOf,
} from '../access/api-keys.ts';
import { issueSecret } from '../access/key-secret.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { FieldError, invalidFields, notFound } from '../values/errors.ts';
import type { Message } from '../values/message.ts';
import { type KeyChanges, type NewKey, type ReadingDependencies, readKeyChanges } from './key-changes.ts';

/** A key as it is now. */
export interface ChangedKey {
  readonly id: number;
  /** What makes no sense of it; of a rotation and a switch nothing is said. */
  readonly warnings?: readonly Message[];
}

export interface IssuedKey extends ChangedKey {
  /** The secret: this is the only time that it is given. */
  readonly secret: string;
}

/**
 * They hold from the next request. A wrong value is a RegistryError `invalid` that names it, an id that no
 * key has `not_found`.
 */
export interface KeyOperations {
  create(values: NewKey): IssuedKey;
  /** Replaces what is named, lists as a whole; the rest stays. */
  update(id: number, changes: KeyChanges): ChangedKey;
  disable(id: number): ChangedKey;
  enable(id: number): ChangedKey;
  /**
   * Issues a new secret.
   * @param overlap how long the old one stays valid, such as `24h`; without, it ends at once
   */
  rotate(id: number, overlap: string | undefined): IssuedKey;
}

interface KeyDependencies extends ReadingDependencies {
  /** Called once what is asked makes sense: what is refused makes no file. */
  readonly openKeys: () => ApiKeyStore;
}

export function createKeys(dependencies: KeyDependencies): KeyOperations {
  const { openKeys, clock } = dependencies;
  const now = (): number => nowSeconds(clock);

  function withWarnings(key: ApiKey): ChangedKey {
    const others = openKeys()
      .list(now())
      .filter(({ id }) => id !== key.id);
    return { id: key.id, warnings: warningsOf(key, { now: now(), others }) };
  }

  const activate = (id: number, isActive: boolean): ChangedKey => ({
    id: found(openKeys().update(id, { isActive }, now())).id,
  });

  return {
    create(given) {
      const values = { ...UNRESTRICTED, ...readKeyChanges(given, undefined, dependencies) } as ApiKeyValues;
      const secret = issueSecret();
      return { ...withWarnings(openKeys().create(values, secret, now())), secret: secret.text };
    },
    update(id, changes) {
      const values = readKeyChanges(changes, found(openKeys().find(id, now())), dependencies);
      return withWarnings(found(openKeys().update(id, values, now())));
    },
    disable: (id) => activate(id, false),
    enable: (id) => activate(id, true),
    rotate(id, text) {
      const overlap = text === undefined ? 0 : parseOverlap(text);
      if (overlap instanceof FieldError) throw invalidFields({ overlap: [overlap.message] });
      const secret = issueSecret();
      found(openKeys().rotate(id, secret, overlap, now()));
      return { id, secret: secret.text };
    },
  };
}

/** @throws RegistryError `not_found` */
function found(key: ApiKey | undefined): ApiKey {
  if (key === undefined) throw notFound();
  return key;
}
