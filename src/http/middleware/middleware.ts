/** What a middleware is. */
import type { ApiRequest } from '../declare/request.ts';
import type { ApiResponse } from '../declare/response.ts';

/**
 * Refuses by returning a response, or adds a fact to the request and returns undefined. None wraps the
 * next, so there is no `next()`, and none waits: the chain stays in one event-loop iteration.
 */
export type Middleware = (request: ApiRequest) => ApiResponse | undefined;
