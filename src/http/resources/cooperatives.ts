/** Cooperatives: list, one, create, replace, change. */

import {
  COOPERATIVE_STATUSES,
  type Cooperative,
  type CooperativeValues,
  SECTORS,
} from '../../domain/membership/cooperatives.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { notFound } from '../../domain/values/errors.ts';
import { findIgnoringCase, parseChoice } from '../../domain/values/text.ts';
import { anyOf, choiceOf, string } from '../../json/schema.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type { CooperativeStore } from '../../store/ports/registry.ts';
import { parseBody } from '../declare/body-fields.ts';
import { envelope, PAGE_PARAMETERS, pageResponse, toPageRequest } from '../declare/list.ts';
import { readPathId } from '../declare/path-id.ts';
import { API_PREFIX, createWith, defineRoute, type Parameter, type Route } from '../declare/route.ts';
import { actorOf } from '../writes/actor.ts';
import { readTagged, taggedCreated, taggedResponse } from '../writes/preconditions.ts';
import { NOTHING_BESIDE, updateRoutes } from '../writes/update.ts';
import {
  COOPERATIVE,
  COOPERATIVE_BODIES,
  COOPERATIVE_ID,
  representCooperative,
  serializeCooperative,
} from './cooperative-fields.ts';
import { COOPERATIVE_EXAMPLE } from './examples.ts';

interface Dependencies {
  readonly store: CooperativeStore;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

const RESPONSE = taggedResponse('The cooperative.', COOPERATIVE, COOPERATIVE_EXAMPLE);

export function cooperativeRoutes(store: CooperativeStore, clock: Clock, zone: TimeZone): Route[] {
  const dependencies = { store, clock, zone };
  return [
    listRoute(dependencies),
    createRoute(dependencies),
    getRoute(dependencies),
    ...cooperativeUpdateRoutes(dependencies),
  ];
}

/** @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included */
async function readNewValues(
  { store, clock, zone }: Dependencies,
  body: unknown,
): Promise<CooperativeValues> {
  const { values, faults } = parseBody(COOPERATIVE_BODIES.post, body, {
    zone,
    nowSeconds: nowSeconds(clock),
  });
  if (!faults.isEmpty && values.code !== undefined)
    faults.addAll(await store.conflicts({ code: values.code }));
  faults.throwIfAny();
  return values as CooperativeValues;
}

const filter = <T>(description: string, schema: Parameter['schema'], parse: (value: string) => T) => ({
  description,
  schema,
  parse,
});

const choiceFilter = <T extends string>(description: string, choices: readonly T[]) =>
  filter(description, anyOf([choiceOf(choices), string()]), (value) =>
    parseChoice(findIgnoringCase(value, choices) ?? value, choices),
  );

const LIST_QUERY = {
  ...PAGE_PARAMETERS,
  // No code has a lower-case letter.
  code: filter('Only the cooperative with this code, in any letter case.', string(), (value) =>
    value.toUpperCase(),
  ),
  status: choiceFilter('Only those of this status, in any letter case.', COOPERATIVE_STATUSES),
  sector: choiceFilter('Only those of this sector, in any letter case.', SECTORS),
  district: filter('Only those of this district, in any letter case.', string(), (value) => value),
};

const listRoute = ({ store, zone }: Dependencies): Route =>
  defineRoute({
    method: 'GET',
    path: '/cooperatives',
    operationId: 'listCooperatives',
    summary: 'List cooperatives',
    tag: 'cooperatives',
    access: { scope: 'cooperatives:read' },
    query: LIST_QUERY,
    responses: { 200: pageResponse('cooperatives', '/cooperatives', COOPERATIVE, COOPERATIVE_EXAMPLE) },
    refusals: [400, 404],
    async handle(request) {
      const { page, page_size, ...filters } = request.query;
      const pageRequest = toPageRequest({ page, page_size });
      return envelope(
        request,
        pageRequest,
        await store.list(filters, pageRequest),
        serializeCooperative,
        zone,
      );
    },
  });

const createRoute = (dependencies: Dependencies): Route => ({
  method: 'POST',
  path: '/cooperatives',
  operationId: 'createCooperative',
  summary: 'Create a cooperative',
  tag: 'cooperatives',
  access: { scope: 'cooperatives:write' },
  body: COOPERATIVE_BODIES.post,
  responses: { 201: RESPONSE },
  refusals: [400, 503],
  creation: createWith<Cooperative>({
    async create(request, keep) {
      const { store, clock } = dependencies;
      const values = await readNewValues(dependencies, request.body);
      return store.create(values, nowSeconds(clock), actorOf(request), keep);
    },
    respond: (cooperative) =>
      taggedCreated(
        `${API_PREFIX}/cooperatives/${cooperative.id}`,
        representCooperative(cooperative, dependencies.zone),
      ),
  }),
});

const getRoute = ({ store, zone }: Dependencies): Route => ({
  method: 'GET',
  path: '/cooperatives/{id}',
  operationId: 'getCooperative',
  summary: 'Read a cooperative',
  tag: 'cooperatives',
  access: { scope: 'cooperatives:read' },
  params: { id: COOPERATIVE_ID },
  responses: { 200: RESPONSE },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404],
  async handle(request) {
    const cooperative = await store.find(readPathId(request));
    if (cooperative === undefined) throw notFound();
    return readTagged(request, representCooperative(cooperative, zone));
  },
});

const cooperativeUpdateRoutes = ({ store, clock, zone }: Dependencies): Route[] =>
  updateRoutes(
    {
      path: '/cooperatives/{id}',
      tag: 'cooperatives',
      params: { id: COOPERATIVE_ID },
      bodies: COOPERATIVE_BODIES,
      put: {
        operationId: 'updateCooperative',
        summary: 'Replace a cooperative',
        description: 'An omitted optional field becomes null or its default. Read-only fields are ignored.',
      },
      patch: {
        operationId: 'patchCooperative',
        summary: 'Change fields of a cooperative',
      },
      responses: { 200: RESPONSE },
    },
    {
      store,
      clock,
      zone,
      readId: readPathId,
      represent: (cooperative) => representCooperative(cooperative, zone),
      findBeside: NOTHING_BESIDE,
      toValues: (body) => body,
    },
  );
