/** Who has had which name, number, code and telephone, and that no file has those of erased persons. */
import assert from 'node:assert/strict';
import { RegistryError } from '../../../src/domain/values/errors.ts';
import type { MemberStore } from '../../../src/store/ports/registry.ts';
import { filesWith } from '../../support/registry-files.ts';
import { isErased, type Rows, rowsOf } from './rows.ts';

const PERSONAL = ['identity_card', 'member_code', 'full_name', 'mobile'] as const;

export class PersonTexts {
  /** By text, the ids of all members who have had it. */
  private readonly holders = new Map<string, Set<number>>();
  private readonly forgotten = new Set<string>();
  private readonly folder: string;
  private readonly members: Pick<MemberStore, 'find'>;

  constructor(folder: string, members: Pick<MemberStore, 'find'>) {
    this.folder = folder;
    this.members = members;
  }

  note(rows: Rows): void {
    for (const row of rowsOf(rows, 'member').filter((each) => !isErased(each)))
      for (const column of PERSONAL) {
        const text = row[column];
        if (text === null) continue;
        const ids = this.holders.get(text as string) ?? new Set();
        this.holders.set(text as string, ids.add(row.id as number));
      }
  }

  /** By the id of a member that was merged, the one that has its entries. */
  async merged(): Promise<Map<number, number>> {
    const ids = new Set([...this.holders.values()].flatMap((holders) => [...holders]));
    const merged = new Map<number, number>();
    for (const id of ids)
      try {
        await this.members.find(id);
      } catch (error) {
        if (!(error instanceof RegistryError) || error.code !== 'gone') throw error;
        const into = /^Merged into member (\d+)\.$/.exec(error.message)?.[1];
        if (into !== undefined) merged.set(id, Number(into));
      }
    return merged;
  }

  /** Every text that only the erased, and members who were merged into them, have had is gone. */
  async checkErased(before: Rows, after: Rows): Promise<void> {
    const erased = new Set(
      rowsOf(after, 'member')
        .filter((row) => isErased(row) && !isErased(before.get(`member ${row.id}`)))
        .map(({ id }) => id as number),
    );
    assert.ok(erased.size > 0);
    const merged = await this.merged();
    const theirs = [...this.holders].filter(([, ids]) =>
      [...ids].every((id) => erased.has(merged.get(id) ?? id)),
    );
    for (const [text] of theirs) this.forgotten.add(text);
    assert.deepEqual(
      filesWith(
        this.folder,
        theirs.map(([text]) => text),
      ),
      [],
    );
  }

  /** No undo or import has brought back what only erased persons have had. */
  checkForgotten(rows: Rows): void {
    const texts = [...this.forgotten].filter((text) =>
      [...(this.holders.get(text) ?? [])].every(
        (id) => !rows.has(`member ${id}`) || isErased(rows.get(`member ${id}`)),
      ),
    );
    assert.deepEqual(filesWith(this.folder, texts), []);
  }
}
