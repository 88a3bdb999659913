/** A request on its way through the pipeline: what each middleware function may read, and what it adds. */
import type { IncomingMessage } from 'node:http';
import type { ApiKey } from '../../domain/api-keys.ts';
import type { Headers } from '../response.ts';
import type { Route } from '../route.ts';

export interface Call {
  readonly message: IncomingMessage;
  readonly route: Route;
  /** Set by authenticate. */
  caller: ApiKey | undefined;
  /** Carried by whatever answer follows, refusals too. */
  readonly headers: Headers;
}

/** Refuses by throwing or adds a fact. None wraps the next, so there is no `next()`. */
export type Middleware = (call: Call) => void;
