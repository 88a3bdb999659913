/** The store of API keys. */
import type { ApiKey, ApiKeyValues } from '../../domain/access/api-keys.ts';

/** One secret of a key: only its SHA-256 is stored. */
export interface KeySecret {
  readonly hash: Uint8Array;
  readonly prefix: string;
}

/** Requests of a key that did the same. */
export interface KeyUse {
  readonly keyId: number;
  /** Admitted, each of them; among these, what used something deprecated; refused ones of the last day. */
  readonly kind: 'admitted' | 'deprecated' | 'refused';
  /**
   * What is deprecated, such as `GET /api/v1/things, parameter old`; why it was refused; empty for what was
   * admitted.
   */
  readonly name: string;
  readonly requests: number;
  /** Of the last one, in epoch seconds. */
  readonly lastAt: number;
}

export interface ApiKeyStore {
  /**
   * The key that the secret belongs to, disabled and expired ones too; ended secrets are unknown.
   * @param hash SHA-256 of the entire key in hexadecimal digits
   */
  findBySecret(hash: string, nowSeconds: number): ApiKey | undefined;
  find(id: number, nowSeconds: number): ApiKey | undefined;
  list(nowSeconds: number): readonly ApiKey[];
  create(values: ApiKeyValues, secret: KeySecret, nowSeconds: number): ApiKey;
  /** @returns undefined when there is no such key */
  update(
    id: number,
    changes: Partial<ApiKeyValues> & { isActive?: boolean },
    nowSeconds: number,
  ): ApiKey | undefined;
  /**
   * Adds a secret; those before it end.
   * @param overlapSeconds how long the earlier secrets stay valid
   */
  rotate(id: number, secret: KeySecret, overlapSeconds: number, nowSeconds: number): ApiKey | undefined;
  /** Counts a request, at once and in memory: it is stored within a minute, or by `close`. */
  countUse(keyId: number, kind: KeyUse['kind'], name: string, nowSeconds: number): void;
  /** What is stored, by key, kind and name. */
  uses(nowSeconds: number): readonly KeyUse[];
  close(): void;
}
