/** Limits of restricted keys on each route (docs/keys.md#narrow-keys). */

export interface Asked {
  /** Raw path segments by parameter name. */
  readonly params: { readonly [name: string]: string };
  /** The query as sent. */
  readonly search: URLSearchParams;
}

/** Required on every route: one without it does not compile. */
export interface Narrowing {
  /**
   * For a lookup-only key: allowed if the route shows no person; otherwise refused, or allowed for requests
   * that name a person by the full national ID.
   */
  readonly lookupOnly: 'allowed' | 'refused' | ((request: Asked) => boolean);
  /**
   * For a key limited to cooperatives: `narrowed` shows and accepts only what belongs to them, through the
   * store that the handler gets for its caller; `allowed` is for routes with nothing that belongs to a
   * cooperative.
   */
  readonly cooperatives: 'narrowed' | 'allowed' | 'refused';
}

/** For routes that show no registry data. */
export const SHOWS_NO_ROWS: Narrowing = { lookupOnly: 'allowed', cooperatives: 'allowed' };

export const SHOWS_COOPERATIVES: Narrowing = { lookupOnly: 'allowed', cooperatives: 'narrowed' };

export const SHOWS_PERSONS: Narrowing = { lookupOnly: 'refused', cooperatives: 'narrowed' };

/** For routes with the national ID in their path. */
export const SHOWS_ONE_PERSON: Narrowing = { lookupOnly: 'allowed', cooperatives: 'narrowed' };
