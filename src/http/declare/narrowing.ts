/** What narrow keys get of a route (docs/keys.md#narrow-keys). */

/** What a request asks for. */
export interface Asked {
  /** Raw path segments by parameter name. */
  readonly params: { readonly [name: string]: string };
  /** The query as it was sent. */
  readonly search: URLSearchParams;
}

/** A route without this does not compile. */
export interface Narrowing {
  /**
   * For a key that only looks up: a route that shows no person is allowed; one that shows persons is refused,
   * or allows those requests that name one by the full national ID.
   */
  readonly lookupOnly: 'allowed' | 'refused' | ((request: Asked) => boolean);
  /**
   * For a key of some cooperatives: `narrowed` shows and takes only what belongs to them, through the store
   * that the handler gets by what its caller sees; `allowed` has nothing that belongs to a cooperative.
   */
  readonly cooperatives: 'narrowed' | 'allowed' | 'refused';
}

/** Of routes that show nothing of what the registry holds. */
export const SHOWS_NO_ROWS: Narrowing = { lookupOnly: 'allowed', cooperatives: 'allowed' };

export const SHOWS_COOPERATIVES: Narrowing = { lookupOnly: 'allowed', cooperatives: 'narrowed' };

export const SHOWS_PERSONS: Narrowing = { lookupOnly: 'refused', cooperatives: 'narrowed' };

/** Of routes whose path has the national ID. */
export const SHOWS_ONE_PERSON: Narrowing = { lookupOnly: 'allowed', cooperatives: 'narrowed' };
