/** A route as a function: what its handler answers, without HTTP and without a key. */

import { setImmediate as endOfIteration } from 'node:timers/promises';
import type { PublicUrl } from '../../config.ts';
import { type ApiKey, SCOPES, UNRESTRICTED } from '../../domain/access/api-keys.ts';
import { parseStated } from '../../domain/access/key-values.ts';
import {
  FieldError,
  FieldErrorList,
  invalidFields,
  RegistryError,
  shownName,
} from '../../domain/values/errors.ts';
import { HttpError, toErrorResponse } from '../../http/declare/errors.ts';
import { describeShown, NOTHING_STATED, type Stated, subjectOf } from '../../http/declare/personal.ts';
import { parseQuery } from '../../http/declare/query.ts';
import { type ApiResponse, BodyParts, JsonText } from '../../http/declare/response.ts';
import { fullPath, type HandlingRoute, type Route, type RouteRequest } from '../../http/declare/route.ts';
import type { Clock } from '../../runtime/clock.ts';
import { systemUser } from '../../runtime/system-user.ts';
import type { AccessLedger } from '../../store/contract/access-ledger.ts';
import { readingByUser } from '../readings/user-reading.ts';
import type { Id } from './arguments.ts';
import type { Queries, Results } from './objects.ts';

/** What a function was called with, unchecked. */
export interface Asked {
  readonly params?: { readonly [name: string]: Id };
  readonly query?: object | undefined;
  readonly seesFinancials?: boolean;
}

/** The program itself, which sees everything. */
const PROGRAM: ApiKey = {
  ...UNRESTRICTED,
  id: 0,
  name: 'embedding program',
  scopes: SCOPES,
  mayExport: true,
  limits: { perHour: 0, perDay: 0 },
  prefixes: [],
  isActive: true,
  createdAt: 0,
  updatedAt: 0,
};

export interface CallDependencies {
  readonly routes: readonly Route[];
  readonly publicUrl: PublicUrl | undefined;
  readonly isDraining: () => boolean;
  readonly clock: Clock;
  /** Where readings of personal data are recorded; nowhere when not given. */
  readonly ledger?: AccessLedger | undefined;
}

/** Gives what routes answer, read from the same text that HTTP sends. */
export class RouteCaller {
  private readonly routes: ReadonlyMap<string, Route>;
  private readonly publicUrl: PublicUrl;
  private readonly dependencies: CallDependencies;

  constructor(dependencies: CallDependencies) {
    const { routes, publicUrl = { origin: '', prefix: '' } } = dependencies;
    this.routes = new Map(routes.map((route) => [route.operationId, route]));
    this.publicUrl = publicUrl;
    this.dependencies = dependencies;
  }

  /** @throws RegistryError (as a rejection) for what HTTP refuses, and for arguments of a wrong type */
  async get<Name extends keyof Results>(name: Name, asked: Asked): Promise<Results[Name]> {
    const closing: (() => void)[] = [];
    try {
      const body = await this.answer(name, asked, closing);
      if (body instanceof JsonText) return JSON.parse(body.text) as Results[Name];
      if (!(body instanceof BodyParts)) return body as Results[Name];
      let text = '';
      for await (const part of body.parts) text += part;
      return JSON.parse(text) as Results[Name];
    } finally {
      for (const close of closing) close();
    }
  }

  /** The rows of an export, one by one. @throws as `get` does, when the first one is asked for */
  async *each<Name extends keyof Results & keyof Queries>(
    name: Name,
    asked: Asked,
  ): AsyncGenerator<Results[Name]> {
    const closing: (() => void)[] = [];
    try {
      const { parts } = (await this.answer(name, asked, closing)) as BodyParts;
      const decoder = new TextDecoder();
      let rest = '';
      for await (const part of parts) {
        const lines = (rest + decoder.decode(part as Uint8Array, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line) as Results[Name];
      }
    } finally {
      for (const close of closing) close();
    }
  }

  private async answer(
    name: string,
    { params = {}, query = {}, seesFinancials = false }: Asked,
    closing: (() => void)[],
  ): Promise<unknown> {
    const route = this.routes.get(name);
    if (route === undefined || route.method === 'POST') throw new Error(`No route ${name} to read.`);
    // The reads of one iteration share a snapshot: this one sees what the program has changed before, and a
    // loop of calls leaves time for whatever else the process does.
    await endOfIteration();
    if (this.dependencies.isDraining()) throw new RegistryError('unavailable', 'The registry is closed.');
    const texts = Object.fromEntries(Object.entries(params).map(([each, value]) => [each, String(value)]));
    const search = toSearch(query);
    const stated = toStated(query);
    // What an export gives is objects, in no format.
    const { format: _format, ...parameters } = route.query ?? {};
    const request = (): RouteRequest => ({
      params: texts,
      search,
      query: parseQuery(parameters, search),
      body: undefined,
      caller: seesFinancials ? PROGRAM : undefined,
      visible: null,
      path: fullPath(route).replace(/\{(\w+)\}/g, (_, each: string) => texts[each] ?? ''),
      incoming: { headers: {}, headersDistinct: {}, method: route.method },
      bodyHash: undefined,
      prefix: this.publicUrl.prefix,
      baseUrl: this.publicUrl.origin + this.publicUrl.prefix,
      whenClosed: (work) => closing.push(work),
    });
    try {
      return await this.recorded(route, request(), stated);
    } catch (error) {
      // Of what is only read HTTP itself refuses ids, national IDs and pages.
      if (error instanceof HttpError) throw new RegistryError('invalid', error.message, { cause: error });
      throw error;
    }
  }

  /** The body of the response, once its reading is recorded; a lookup of nobody is one too. */
  private async recorded(route: HandlingRoute, request: RouteRequest, stated: Stated): Promise<unknown> {
    let response: ApiResponse;
    try {
      response = await route.handle(request);
    } catch (error) {
      await this.record(route, request, toErrorResponse(error).response, stated);
      throw error;
    }
    await this.record(route, request, response, stated);
    return response.body;
  }

  private async record(route: Route, request: RouteRequest, response: ApiResponse, stated: Stated) {
    const { ledger, clock } = this.dependencies;
    const subject = ledger && subjectOf(route, request, response);
    if (subject === undefined) return;
    const shown = { ...describeShown(route, response), ...stated, subject };
    await ledger?.record([readingByUser(clock, systemUser(), shown)]);
  }
}

const STATEMENTS = ['purpose', 'endUser'] as const;

/** What the options say of the reading. @throws RegistryError `invalid` */
function toStated(options: object): Stated {
  const stated: { -readonly [name in keyof Stated]: Stated[name] } = { ...NOTHING_STATED };
  for (const name of STATEMENTS) {
    const text = (options as { readonly [name: string]: unknown })[name];
    if (text === undefined) continue;
    const read = parseStated(typeof text === 'string' ? text : '');
    if (read instanceof FieldError) throw invalidFields({ [name]: [read.message] });
    stated[name] = read;
  }
  return stated;
}

/**
 * Options as query parameters, which have the same names; those in camelCase are taken too.
 * @throws RegistryError `invalid` for values that are neither texts nor whole numbers
 */
function toSearch(options: unknown): URLSearchParams {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw invalidFields({ options: ['Expected an object.'] });
  const search = new URLSearchParams();
  const faults = new FieldErrorList();
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || STATEMENTS.some((each) => each === name)) continue;
    if (typeof value === 'string' || Number.isSafeInteger(value))
      search.append(
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        String(value),
      );
    else faults.add(shownName(name), 'Expected a string or a whole number.');
  }
  faults.throwIfAny();
  return search;
}
