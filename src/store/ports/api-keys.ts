/** The store of API keys. */
import type { ApiKey, ApiKeyValues } from '../../domain/access/api-keys.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';

/** One secret of a key: only its SHA-256 is stored. */
export interface KeySecret {
  readonly hash: Uint8Array;
  readonly prefix: string;
}

export interface ApiKeyStore {
  /**
   * The key that the secret belongs to, disabled and expired ones too; ended secrets are unknown.
   * @param hash SHA-256 of the entire key in hexadecimal digits
   */
  findBySecret(hash: string, nowSeconds: number): Awaitable<ApiKey | undefined>;
  find(id: number, nowSeconds: number): Awaitable<ApiKey | undefined>;
  list(nowSeconds: number): Awaitable<readonly ApiKey[]>;
  create(values: ApiKeyValues, secret: KeySecret, nowSeconds: number): Awaitable<ApiKey>;
  /** @returns undefined when there is no such key */
  update(
    id: number,
    changes: Partial<ApiKeyValues> & { isActive?: boolean },
    nowSeconds: number,
  ): Awaitable<ApiKey | undefined>;
  /**
   * Adds a secret; those before it end.
   * @param overlapSeconds how long the earlier secrets stay valid
   */
  rotate(
    id: number,
    secret: KeySecret,
    overlapSeconds: number,
    nowSeconds: number,
  ): Awaitable<ApiKey | undefined>;
  close(): Awaitable<void>;
}
