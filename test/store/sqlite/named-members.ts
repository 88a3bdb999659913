/** A registry whose names are searched, for tests. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { checkNames } from '../../../src/check/check.ts';
import type { MemberStatus } from '../../../src/registry/members.ts';
import { temporaryFolder } from '../../support/app.ts';
import { type Connection, openStore } from '../../support/sqlite.ts';

export interface Row {
  readonly id: number;
  cooperativeId: number;
  status: MemberStatus;
  name: string;
}

/** A registry with three cooperatives, where members are indexed at once. @param file where it is created */
export function openRegistry(
  context: TestContext,
  file = join(temporaryFolder(context), 'registry.db'),
): Connection {
  const store = openStore(file);
  context.after(() => store.close());
  store.connection.exec('UPDATE batches SET size = 1');
  for (const id of [1, 2, 3])
    store.connection.run(
      `INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
       VALUES (?, ?, 'C', 'active', 1, 1)`,
      [id, `C${id}`],
    );
  return store.connection;
}

export const insertRow = (db: Connection, { id, cooperativeId, status, name }: Row) =>
  db.run(
    `INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
       registration_date, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 'MEMBER', ?, 0, 1, 1)`,
    [id, cooperativeId, String(1_198_589_000_000_000 + id), `M${id % 4}-${id}`, name, status],
  );

/** As a large import: members from this one on are indexed later. */
export const leaveFrom = (db: Connection, id: number) =>
  db.run('INSERT INTO unindexed_names (first_id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM unindexed_names)', [
    id,
  ]);

/** What `check` says is wrong with the indexes of names. */
export const faultsOf = (db: Connection) => checkNames(db).filter(({ fault }) => fault !== null);
