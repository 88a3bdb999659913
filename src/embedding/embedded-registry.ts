/**
 * What programs that embed the registry get (docs/embedding.md). Its types lead to no library without types
 * of its own: those of the program compile without more.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RunningServer } from '../http/server/client-connection.ts';
import type { StorageError } from '../sqlite/storage-error.ts';
import type { Request } from './in-process-request.ts';

export interface Registry {
  /**
   * A listener for node:http's `request` event; also mountable in other frameworks, before any body parser.
   */
  readonly handler: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Serves on the configured host and port, with limits on slow clients, and delivers webhooks. */
  listen(): Promise<RunningServer>;
  /** Answers as over HTTP, in this process and without a socket: as a client on this machine would be. */
  readonly request: Request;
  /**
   * Resolves when writing has failed in a way that leaves the disk in doubt, with the error to report.
   * The registry takes no writes then and is not ready: close it, look at the disk, run `check`, and open it
   * again.
   */
  readonly failed: Promise<StorageError>;
  /** Ends in order: refuses readiness, answers what was received, then closes the files. */
  close(): Promise<void>;
}
