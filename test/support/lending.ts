/** A registry with cooperatives and members, and short ways to record loans and payments over HTTP. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startApp, type TestApp, type TestResponse } from './app.ts';
import { nid } from './importing.ts';

type Body = { readonly [field: string]: unknown };

export interface Lending {
  readonly app: TestApp;
  get(path: string): Promise<TestResponse>;
  post(path: string, body: unknown): Promise<TestResponse>;
  put(path: string, body: unknown): Promise<TestResponse>;
  /** Records a loan of member 1 unless `more` has another. @returns the response's JSON */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  lend(more?: Body): Promise<any>;
  /** Records a payment. @returns the response's JSON */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  pay(loanId: string, more?: Body): Promise<any>;
}

/** The values that a loan needs, but its member and reference. */
export const LOAN_TERMS = { amount: '1000.00', interest_rate: '18.00' };

/**
 * Starts a registry with the cooperatives A-1 and B-2, of which members 1 and 2 are in the first, and 3, who
 * is the same person as 1, in the second.
 */
export async function startLending(
  context: TestContext,
  options: Parameters<typeof startApp>[1] = {},
): Promise<Lending> {
  const app = await startApp(context, options);
  let serial = 0;
  const send = (method: string) => (path: string, body: unknown) => app.send(path, { method, body });
  const [post, put] = [send('POST'), send('PUT')];

  async function create(path: string, body: unknown) {
    const response = await post(path, body);
    assert.equal(response.status, 201, response.text);
    return response.json;
  }

  for (const code of ['A-1', 'B-2']) await create('/cooperatives', { code, name: `Coop ${code}` });
  for (const [cooperative_id, person] of [
    ['1', 1],
    ['1', 2],
    ['2', 1],
  ] as const) {
    const member_code = `M-${++serial}`;
    const identity_card = nid(person);
    await create('/members', { cooperative_id, identity_card, member_code, full_name: `Person ${person}` });
  }

  return {
    app,
    get: (path) => app.send(path),
    post,
    put,
    lend: (more = {}) =>
      create('/loans', { member_id: '1', reference: `L-${++serial}`, ...LOAN_TERMS, ...more }),
    pay: (loan_id, more = {}) =>
      create('/payments', {
        ...{ loan_id, amount: '100.00', method: 'cash', reference: `P-${++serial}` },
        ...more,
      }),
  };
}
