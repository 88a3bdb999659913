/** A copy of the registry that begins with an export and goes on with the feed is the registry. */
import assert from 'node:assert/strict';
import type { ExportedRows, ExportSession } from '../../../src/export/exported-rows.ts';
import type { RegistryStore } from '../../../src/open-registry.ts';
import { RegistryError } from '../../../src/values/errors.ts';

const STORES = {
  cooperative: 'cooperatives',
  member: 'members',
  loan: 'loans',
  payment: 'payments',
} as const;
type Entity = keyof typeof STORES;

/** They change with other rows, or only exports have them. */
const OF_OTHERS = [
  ...['membersCount', 'cooperativeCode', 'cooperativeName', 'fullName', 'identityCard'],
  ...['memberCode', 'loanReference'],
];

function ownValues(entity: Entity, row: object): object {
  const isOwn = (name: string): boolean => {
    // A date of death, which nothing shows and no event names, sets the member's `updatedAt` too.
    if (entity === 'member')
      return name !== 'updatedAt' && (name === 'cooperativeId' || !name.startsWith('cooperative'));
    // A payment belongs to whom its loan belongs to.
    return !OF_OTHERS.includes(name) && !(entity === 'payment' && name === 'memberId');
  };
  return Object.fromEntries(Object.entries(row).filter(([name]) => isOwn(name)));
}

type Rows = Map<string, object>;

interface Exported {
  readonly rows: Rows;
  readonly sequence: number;
  readonly epoch: string;
}

function exportAll(session: ExportSession): Exported {
  const { sequence, epoch, rows: read } = session.begin();
  const rows: Rows = new Map();
  for (const [entity, kind] of Object.entries(STORES) as [Entity, keyof ExportedRows][])
    for (const row of read(kind, { visible: null })) rows.set(`${entity} ${row.id}`, ownValues(entity, row));
  session.end();
  return { rows, sequence, epoch };
}

/** Exports of every so many steps begin a copy. */
const STEPS_OF_A_COPY = 4;

export class ExportedCopy {
  private readonly session: ExportSession;
  private readonly registry: RegistryStore;
  private copy: Exported;
  private steps = 0;

  constructor(session: ExportSession, registry: RegistryStore) {
    this.session = session;
    this.registry = registry;
    this.copy = exportAll(session);
  }

  /** Follows the feed from the export on, and compares the copy with the next export. */
  async check(): Promise<void> {
    const { events, lastSequence, epoch } = await this.registry.events.read({
      ...{ after: this.copy.sequence, limit: 10_000, epoch: this.copy.epoch },
    });
    for (const { type, id } of events) {
      const entity = type.split('.')[0] as Entity;
      const row = await this.find(entity, id);
      if (row === undefined) this.copy.rows.delete(`${entity} ${id}`);
      else this.copy.rows.set(`${entity} ${id}`, ownValues(entity, row));
    }
    const next = exportAll(this.session);
    assert.deepEqual([next.sequence, next.epoch], [lastSequence, epoch]);
    assert.deepEqual(new Map([...this.copy.rows].sort()), new Map([...next.rows].sort()));
    const isNew = ++this.steps % STEPS_OF_A_COPY === 0;
    this.copy = isNew ? next : { ...this.copy, sequence: lastSequence };
  }

  close(): void {
    this.session.close();
  }

  private async find(entity: Entity, id: number): Promise<object | undefined> {
    try {
      return await this.registry[STORES[entity]].find(id);
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'gone') return undefined;
      throw error;
    }
  }
}
