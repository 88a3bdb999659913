/** Declaration of a module: a room that can be left out, and all its additions to the program. */
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

/** Every command loads all declarations. To keep this fast, their functions load files only when called. */
export interface Module {
  readonly commands?: { readonly [name: string]: ModuleCommand };
  readonly service?: () => Promise<AddToService>;
  readonly status?: () => Promise<ReadAdded>;
  /** Search by name, which the API, the desk and commands use. At most one module has a search. */
  readonly search?: () => Promise<Search>;
  /** Part of the desk's page of a cooperative. */
  readonly ofCooperative?: () => Promise<PagePart>;
  readonly screens?: () => Promise<readonly Screen[]>;
  /** Figures on the desk's page of a cooperative. At most one module has figures. */
  readonly figures?: () => Promise<CooperativeFigures>;
}

export interface CommandEntry {
  readonly description: string;
  readonly load: () => Promise<(command: Command, context: CliContext) => void>;
}

interface ModuleCommand extends CommandEntry {
  /** Command of `program.ts` before which `--help` lists this command. */
  readonly before: string;
}

/** Called once for each service, before the service opens files. */
export type AddToService = (config: Config) => ServicePart;

export interface ServicePart {
  /** Counters for metrics. At most one module has measures. */
  readonly measures?: Measures;
  readonly outgoing?: OutgoingMessages;
  readonly routes?: (storage: Storage, store: NarrowableStore<ServedRows>, clock: Clock) => AddedRoutes;
  /** Starts servers and background work, when the service begins to listen. @throws CommandError */
  readonly listen?: (service: ComposedService) => Promise<readonly Serving[]>;
  /** Returns the values of the module's metrics by name. */
  readonly metrics?: () => object;
  /** Called when the service begins to close. */
  readonly close?: () => Promise<void> | undefined;
  /** Closes connections and threads of routes after the last request. */
  readonly release?: () => Promise<void>;
}

interface AddedRoutes {
  /** Further routes of a resource, listed in OpenAPI after its other routes. */
  readonly more?: MoreRoutes;
  /** Routes of the deliveries, loans and savings of all members. */
  readonly ofEntries?: readonly Route[];
  readonly ofRegistry?: readonly Route[];
}

/** A server of a module, with its own address. */
export interface Serving {
  readonly name: string;
  readonly address: AddressInfo;
}

export interface Measures {
  readonly commit: CommitMeasure;
  /** Counts the accesses of an event-loop iteration, after the ledger has recorded or refused them. */
  readonly accesses: (count: number, durationMs: number, isRecorded: boolean) => void;
  readonly refusedAddress: () => void;
  /** Wraps a log to count requests and closed connections. */
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
  readonly metrics: () => object;
  readonly loadStatus: () => Promise<readonly ReadAdded[]>;
}
