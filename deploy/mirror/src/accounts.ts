/**
 * Savings accounts without a transaction any more: a lookup counts them, and no export has them. They remain
 * when all entries of an account are removed.
 */
import type { Database } from './database.ts';
import type { RegistryClient, Row } from './registry.ts';

/** By number of the member. */
export type EmptyAccounts = Map<string, number>;

/** @param transactions all of the member, who counts only while active */
export async function emptyAccountsOf(
  registry: RegistryClient,
  id: string,
  transactions: readonly Row[],
): Promise<number> {
  const member = await registry.read(`/members/${id}`, 'members');
  if ('gone' in member || member.row.status !== 'active') return 0;
  const { identity_card, cooperative } = member.row;
  const path = `/cooperatives/${(cooperative as Row).id}/members/${identity_card}`;
  const found = await registry.read(path, 'members of cooperatives');
  if ('gone' in found) return 0;
  const { accounts_count } = found.row.savings_summary as { accounts_count: number };
  return Math.max(0, accounts_count - new Set(transactions.map(({ account_number }) => account_number)).size);
}

/** Part of the transaction under way. */
export async function storeEmptyAccounts(
  { query }: Database,
  members: readonly string[],
  empty: EmptyAccounts,
): Promise<void> {
  await query('DELETE FROM registry.empty_savings_accounts WHERE member_id = ANY ($1::bigint[])', [members]);
  const some = [...empty].filter(([, accounts]) => accounts > 0);
  await query(
    'INSERT INTO registry.empty_savings_accounts SELECT * FROM unnest($1::bigint[], $2::integer[])',
    [some.map(([member]) => member), some.map(([, accounts]) => accounts)],
  );
}

const COUNTED = `SELECT cooperative_id, count(DISTINCT account_number) AS accounts
  FROM registry.savings_transactions GROUP BY cooperative_id`;
const MEMBERS = `SELECT m.id, array(
    SELECT DISTINCT t.account_number FROM registry.savings_transactions t
    WHERE t.member_id = m.id) AS accounts
  FROM registry.members m WHERE m.cooperative_id = $1 AND m.status = 'active'`;

async function accountsOf(registry: RegistryClient, path: string): Promise<number | undefined> {
  const found = await registry.read(path, 'statistics');
  return 'gone' in found ? undefined : (found.row.savings as { accounts: number }).accounts;
}

/** After exports: statistics say whether, and where, there are more accounts than transactions have. */
export async function countAccounts(database: Database, registry: RegistryClient): Promise<void> {
  const { rows } = await database.query(COUNTED);
  const known = new Map<string, number>(rows.map((row) => [String(row.cooperative_id), row.accounts]));
  const empty: EmptyAccounts = new Map();
  const total = [...known.values()].reduce((sum, accounts) => sum + accounts, 0);
  if ((await accountsOf(registry, '/statistics')) !== total) {
    const { rows: cooperatives } = await database.query('SELECT id FROM registry.cooperatives');
    for (const { id } of cooperatives) {
      const accounts = await accountsOf(registry, `/cooperatives/${id}/statistics`);
      if (accounts === undefined || accounts === (known.get(String(id)) ?? 0)) continue;
      for (const member of (await database.query(MEMBERS, [id])).rows) {
        const transactions = member.accounts.map((account_number: string) => ({ account_number }));
        empty.set(String(member.id), await emptyAccountsOf(registry, String(member.id), transactions));
      }
    }
  }
  await database.transaction(async () => {
    await database.query('DELETE FROM registry.empty_savings_accounts');
    await storeEmptyAccounts(database, [], empty);
    await database.setState({ must_count_accounts: false });
  });
}
