/** API keys for programs that embed the registry: what the commands of docs/keys.md do, as functions. */

import {
  type ApiKey,
  type ApiKeyValues,
  prefixOf,
  type Scope,
  UNRESTRICTED,
} from '../../domain/access/api-keys.ts';
import { parseOverlap } from '../../domain/access/key-values.ts';
import { warningsOf } from '../../domain/access/key-warnings.ts';
import { formatDateTime } from '../../domain/values/date-time.ts';
import { notFound } from '../../domain/values/errors.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import { issueSecret } from '../../runtime/key-secret.ts';
import type { ApiKeyStore } from '../../store/contract/api-keys.ts';
import { checkOptions, type Id, toId, toParsed } from './arguments.ts';
import { type KeyChanges, type NewKey, type ReadingDependencies, readKeyChanges } from './key-changes.ts';

/** A key without its secret. */
export interface KeyObject {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** How its secrets begin: two during the overlap of a rotation. */
  readonly prefixes: readonly string[];
  readonly allowedAddresses: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly isLookupOnly: boolean;
  readonly mayExport: boolean;
  readonly cooperatives: readonly string[] | null;
  readonly purpose: string | null;
  readonly requiresPurpose: boolean;
  readonly perHour: number;
  readonly perDay: number;
  readonly isActive: boolean;
  readonly expiresAt: string | null;
}

/** A key with what makes no sense of it, as the commands warn. */
export interface ChangedKey extends KeyObject {
  readonly warnings: readonly string[];
}

export interface IssuedKey extends ChangedKey {
  /** The secret: this is the only time that it is given. */
  readonly key: string;
  readonly prefix: string;
}

/**
 * They hold from the next request. A wrong value rejects with a RegistryError `invalid` that names it, an id
 * that no key has with `not_found`.
 */
export interface EmbeddedKeys {
  create(values: NewKey): Promise<IssuedKey>;
  list(): Promise<readonly KeyObject[]>;
  get(id: Id): Promise<KeyObject | undefined>;
  /** Replaces what is named, lists as a whole; the rest stays. */
  update(id: Id, changes: KeyChanges): Promise<ChangedKey>;
  disable(id: Id): Promise<KeyObject>;
  enable(id: Id): Promise<KeyObject>;
  /**
   * Issues a new secret.
   * @param options `overlap`: how long the old one stays valid, such as `24h`; without, it ends at once
   */
  rotate(id: Id, options?: { readonly overlap?: string | undefined }): Promise<IssuedKey>;
}

export interface KeyDependencies extends ReadingDependencies {
  /** Called once what is asked makes sense: what is refused makes no file. */
  readonly openKeys: () => ApiKeyStore;
}

export function createKeys(dependencies: KeyDependencies): EmbeddedKeys {
  const { openKeys, clock, zone } = dependencies;
  const now = (): number => nowSeconds(clock);

  function toObject(key: ApiKey | undefined): KeyObject {
    if (key === undefined) throw notFound();
    const { id, limits, expiresAt, cooperatives, createdAt: _, updatedAt: __, ...shown } = key;
    return {
      ...shown,
      id: String(id),
      cooperatives: cooperatives?.map(String) ?? null,
      ...limits,
      expiresAt: expiresAt === null ? null : formatDateTime(expiresAt, zone),
    };
  }

  async function withWarnings(key: ApiKey | undefined): Promise<ChangedKey> {
    if (key === undefined) throw notFound();
    const others = openKeys()
      .list(now())
      .filter(({ id }) => id !== key.id);
    return { ...toObject(key), warnings: warningsOf(key, { now: now(), others }).map(String) };
  }

  const issued = async (key: ApiKey | undefined, secret: string): Promise<IssuedKey> => ({
    ...(await withWarnings(key)),
    key: secret,
    prefix: prefixOf(secret),
  });

  const activate = async (id: Id, isActive: boolean): Promise<KeyObject> =>
    toObject(openKeys().update(toId('id', id), { isActive }, now()));

  return {
    async create(given) {
      const values = {
        ...UNRESTRICTED,
        ...(await readKeyChanges(given, undefined, dependencies)),
      } as ApiKeyValues;
      const secret = issueSecret();
      return issued(openKeys().create(values, secret, now()), secret.text);
    },
    list: async () => openKeys().list(now()).map(toObject),
    async get(id) {
      const key = openKeys().find(toId('id', id), now());
      return key === undefined ? undefined : toObject(key);
    },
    async update(id, changes) {
      const known = toId('id', id);
      const stored = openKeys().find(known, now());
      if (stored === undefined) throw notFound();
      return withWarnings(
        openKeys().update(known, await readKeyChanges(changes, stored, dependencies), now()),
      );
    },
    disable: (id) => activate(id, false),
    enable: (id) => activate(id, true),
    async rotate(id, options) {
      checkOptions(options, { overlap: 'string' });
      const overlap = options?.overlap === undefined ? 0 : toParsed('overlap', options.overlap, parseOverlap);
      const secret = issueSecret();
      return issued(openKeys().rotate(toId('id', id), secret, overlap, now()), secret.text);
    },
  };
}
