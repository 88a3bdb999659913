/** Who has had which name, number, code and telephone, and that no file has those of erased persons. */
import assert from 'node:assert/strict';
import { MEMBER_FIELDS, type Member } from '../../../src/registry/members.ts';
import type { MemberStore } from '../../../src/registry/stores/member-store.ts';
import { listFields } from '../../../src/values/declared-fields.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { filesWith } from '../../support/registry-files.ts';
import { isErased, type Rows, rowsOf } from './rows.ts';

/** The texts that say who somebody is; those of a choice, or of a day, many have. */
const PERSONAL = listFields(MEMBER_FIELDS).filter(({ kind }) =>
  ['text', 'identity_card', 'mobile'].includes(kind),
);

/** True for the result of a write of a member; other rows have no date of registration. */
export const isMember = (value: unknown): value is Member =>
  typeof value === 'object' && value !== null && 'registrationDate' in value && 'memberCode' in value;

export class PersonTexts {
  /** By text, the ids of all members who have had it. */
  private readonly holders = new Map<string, Set<number>>();
  /** By a former number and the current one, the ids of all members that have been found by it. */
  private readonly found = new Map<string, Set<number>>();
  private readonly forgotten = new Set<string>();
  private readonly folder: string;
  private readonly members: Pick<MemberStore, 'find' | 'findCurrentIdentityCard'>;

  constructor(folder: string, members: PersonTexts['members']) {
    this.folder = folder;
    this.members = members;
  }

  note(rows: Rows): void {
    for (const row of rowsOf(rows, 'member').filter((each) => !isErased(each)))
      for (const { column } of PERSONAL) this.noteHolder(row[column], row.id as number);
  }

  /** Notes what a write made of a member: the next write of its transaction may have changed it again. */
  noteWritten(member: Member): void {
    for (const { property } of PERSONAL) this.noteHolder(member[property as keyof Member], member.id);
  }

  private noteHolder(text: unknown, id: number): void {
    if (typeof text !== 'string') return;
    this.holders.set(text, (this.holders.get(text) ?? new Set()).add(id));
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

  /** Those that lead to others. */
  async formers(numbers: readonly string[]): Promise<string[]> {
    const current = await Promise.all(numbers.map((number) => this.members.findCurrentIdentityCard(number)));
    return numbers.filter((_, i) => current[i] !== undefined);
  }

  /** A former number goes on finding the members that it found, and who joins them: never only strangers. */
  async checkFormers(rows: Rows, numbers: readonly string[]): Promise<void> {
    const merged = await this.merged();
    for (const number of numbers) {
      const current = await this.members.findCurrentIdentityCard(number);
      if (current === undefined) continue;
      const found = rowsOf(rows, 'member').filter(({ identity_card }) => identity_card === current);
      const ids = found.map(({ id }) => id as number);
      const known = this.found.get(`${number} ${current}`) ?? new Set(ids);
      const isKnown = [...known].some((id) => ids.includes(merged.get(id) ?? id));
      assert.ok(isKnown, `${number} leads to a stranger who has ${current}.`);
      this.found.set(`${number} ${current}`, new Set([...known, ...ids]));
    }
  }

  /**
   * Every text that only the erased, and members who were merged into them, have had is gone; all other rows
   * are as before.
   * @returns the national IDs that are gone
   */
  async checkErased(before: Rows, after: Rows): Promise<string[]> {
    const isErasedNow = (key: string) => isErased(after.get(key)) && !isErased(before.get(key));
    const erased = new Set(
      rowsOf(after, 'member').flatMap(({ id }) => (isErasedNow(`member ${id}`) ? [id as number] : [])),
    );
    assert.ok(erased.size > 0);
    const others = (rows: Rows) => [...rows].filter(([key]) => !isErasedNow(key));
    assert.deepEqual(others(after), others(before));
    const merged = await this.merged();
    const theirs = [...this.holders].flatMap(([text, ids]) =>
      [...ids].every((id) => erased.has(merged.get(id) ?? id)) ? [text] : [],
    );
    for (const text of theirs) this.forgotten.add(text);
    assert.deepEqual(filesWith(this.folder, theirs), []);
    return theirs.filter((text) => /^\d{16}$/.test(text));
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
