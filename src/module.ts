/** The declaration of a room that can be left out: everything that it adds to the program. */
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import type { AccessLedger } from './access/access-ledger.ts';
import type { ApiKeyStore } from './access/api-key-store.ts';
import type { RateLimiter } from './access/rate-limiter.ts';
import type { CooperativeFigures, PagePart, Screen } from './desk/screen.ts';
import type { Unready } from './health/health-routes.ts';
import type { ReadAdded } from './health/registry-status.ts';
import type { MoreRoutes } from './http/declare/resource.ts';
import type { Route } from './http/declare/route.ts';
import type { AccessLog } from './http/server/access-log.ts';
import type { RegistryStore, ServedRows } from './open-registry.ts';
import type { OutgoingMessages } from './reference/openapi.ts';
import type { Search } from './registry/name-search.ts';
import type { NarrowableStore } from './registry/registry-store.ts';
import type { Config } from './runtime/config.ts';
import type { Clock } from './runtime/scheduler.ts';
import type { CommitMeasure } from './sqlite/group-commit.ts';
import type { Storage } from './sqlite/storage.ts';
import type { CliContext } from './terminal/context.ts';

/** Additions of a module: functions that load files only when called, as every command reads this list. */
export interface Module {
  readonly commands?: { readonly [name: string]: ModuleCommand };
  readonly service?: () => Promise<AddToService>;
  readonly status?: () => Promise<ReadAdded>;
  /** Searches for members by name, which the API, the desk and commands offer; of one module at most. */
  readonly search?: () => Promise<Search>;
  /** A part of the desk's page of a cooperative. */
  readonly ofCooperative?: () => Promise<PagePart>;
  readonly screens?: () => Promise<readonly Screen[]>;
  /** Figures on the desk's pages of a cooperative and of all of them; of one module at most. */
  readonly figures?: () => Promise<CooperativeFigures>;
}

export interface CommandEntry {
  readonly description: string;
  /** Loads the command's file, with everything that the command needs. */
  readonly load: () => Promise<(command: Command, context: CliContext) => void>;
}

interface ModuleCommand extends CommandEntry {
  /** The command of `program.ts` that `--help` lists next. */
  readonly before: string;
}

/** Called once for each service, before it opens a file. */
export type AddToService = (config: Config) => ServicePart;

export interface ServicePart {
  /** Counts what the service does. At most one module has it. */
  readonly measures?: Measures;
  /** Described with the routes, as what the service sends by itself. */
  readonly outgoing?: OutgoingMessages;
  readonly routes?: (storage: Storage, store: NarrowableStore<ServedRows>, clock: Clock) => AddedRoutes;
  /** Starts what runs beside the service, once that listens. @throws CommandError */
  readonly listen?: (service: ComposedService) => Promise<readonly Serving[]>;
  /** Values by the names of metrics. */
  readonly metrics?: () => object;
  /** Called when the service begins to close. */
  readonly close?: () => Promise<void> | undefined;
  /** Closes what routes read from, once no request is under way. */
  readonly release?: () => Promise<void>;
}

interface AddedRoutes {
  /** Over the rows of a resource, beside its others. */
  readonly more?: MoreRoutes;
  /** Over the entries of all members. */
  readonly ofEntries?: readonly Route[];
  /** Over the rows of all resources. */
  readonly ofRegistry?: readonly Route[];
}

/** A server on an address of its own. */
export interface Serving {
  readonly name: string;
  readonly address: AddressInfo;
}

export interface Measures {
  readonly commit: CommitMeasure;
  /** Accesses to personal data in an event-loop iteration, refused if they could not be recorded. */
  readonly accesses: (count: number, durationMs: number, isRecorded: boolean) => void;
  readonly refusedAddress: () => void;
  /** Wraps the log of requests and closed connections. */
  readonly counting: (log: AccessLog) => AccessLog;
}

export interface ComposedService {
  readonly clock: Clock;
  readonly storage: Storage;
  readonly store: RegistryStore;
  readonly keys: ApiKeyStore;
  readonly ledger: AccessLedger | undefined;
  readonly limiter: RateLimiter;
  readonly log: AccessLog;
  readonly findUnready: () => Promise<Unready | undefined>;
  /** Counts of all modules. */
  readonly metrics: () => object;
  /** Loads what modules read for `status` and for the metrics. */
  readonly loadStatus: () => Promise<readonly ReadAdded[]>;
}
