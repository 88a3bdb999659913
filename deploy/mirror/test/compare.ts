/** Whether the mirror has what the registry has: exports row by row, and persons as lookups show them. */
import type { Cluster } from './cluster.ts';
import type { Json, Registry } from './processes.ts';

const TABLES: { readonly [path: string]: string } = {
  cooperatives: 'SELECT * FROM registry.cooperatives ORDER BY id',
  members: `SELECT m.*, n.identity_card FROM registry.members m
    JOIN registry_private.national_ids n ON n.member_id = m.id ORDER BY m.id`,
  loans: 'SELECT * FROM registry.loans ORDER BY id',
  payments: 'SELECT * FROM registry.payments ORDER BY id',
  deliveries: 'SELECT * FROM registry.deliveries ORDER BY id',
  'savings-transactions': 'SELECT * FROM registry.savings_transactions ORDER BY id',
};

const DECIMALS = ['amount', 'interest_rate', 'paid_amount', 'kg'];

/** Decimals, times and numbers of rows in one form. */
function normal(column: string, value: Json): Json {
  if (value === null || value === undefined) return null;
  if (/^\d{4}-\d\d-\d\dT/.test(String(value))) return new Date(value).getTime();
  return DECIMALS.includes(column) ? Number(value) : String(value);
}

/** The columns that the mirror has, of an object of an export. */
const flat = ({ member, cooperative, ...object }: Json, columns: readonly string[]): string => {
  const all = { member_id: member?.id, cooperative_id: cooperative?.id, ...object };
  return JSON.stringify(columns.map((column) => [column, normal(column, all[column])]));
};

async function differencesOf(cluster: Cluster, registry: Registry, path: string): Promise<string[]> {
  const { rows: exported } = await registry.export(path);
  const text = `SELECT to_jsonb(t) AS row FROM (${TABLES[path]}) AS t`;
  const mirrored: Json[] = (await cluster.ask(text, [], cluster.url())).map(({ row }) => row);
  return compareRows(path, exported, mirrored);
}

function compareRows(path: string, exported: readonly Json[], mirrored: readonly Json[]): string[] {
  const byId = new Map(mirrored.map((row) => [String(row.id), row]));
  const found: string[] = [];
  for (const object of exported) {
    const row = byId.get(object.id);
    byId.delete(object.id);
    if (row === undefined) found.push(`${path} ${object.id} is missing`);
    else {
      const columns = Object.keys(row);
      const [wanted, is] = [flat(object, columns), flat(row, columns)];
      if (wanted !== is) found.push(`${path} ${object.id}: ${is} instead of ${wanted}`);
    }
  }
  for (const id of byId.keys()) found.push(`${path} ${id} should not be there`);
  return found;
}

/** Of every person, what a lookup shows. @param most persons at most, spread over all */
async function differencesOfPeople(cluster: Cluster, registry: Registry, most: number): Promise<string[]> {
  const { rows } = await registry.export('members');
  const active = rows.filter(({ status }) => status === 'active').map((row) => String(row.identity_card));
  const persons = [...new Set(active)];
  const found: string[] = [];
  const people = await cluster.ask('SELECT count(*) FROM registry.people', [], cluster.url());
  if (Number(people[0].count) !== persons.length)
    found.push(`${people[0].count} people instead of ${persons.length}`);
  const each = Math.max(1, Math.ceil(persons.length / most));
  // Those who were changed last have the highest numbers, or come first.
  const asked = persons.filter((_, i) => i % each === 0 || i > persons.length - 50 || i < 150);
  const views = await cluster.ask(
    `SELECT to_jsonb(p) - 'person_id' - 'memberships_count' AS person FROM registry_private.people p
     WHERE identity_card = ANY ($1)`,
    [asked],
    cluster.url(),
  );
  const byNumber = new Map<string, Json>(views.map(({ person }) => [person.identity_card, person]));
  for (const number of asked) {
    const { status, json } = await registry.ask('GET', `/members/${number}`);
    if (status !== 200) found.push(`lookup: status ${status}`);
    else if (sorted(json) !== sorted(byNumber.get(number) ?? null))
      found.push(`person: ${sorted(byNumber.get(number))} instead of ${sorted(json)}`);
  }
  return found;
}

const sorted = (value: Json): string =>
  JSON.stringify(value, (_name, each) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

/** @returns what differs, a line each */
export async function differences(cluster: Cluster, registry: Registry, most = 10_000): Promise<string[]> {
  const found: string[] = [];
  for (const path of Object.keys(TABLES)) found.push(...(await differencesOf(cluster, registry, path)));
  return [...found, ...(await differencesOfPeople(cluster, registry, most))];
}
