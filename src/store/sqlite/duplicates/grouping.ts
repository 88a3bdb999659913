/** Groups of equal things among so many, found by hashing: in linear time, however many there are. */

/** Spreads numbers over 32 bits. */
export const scramble = (hash: number): number => {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
};

export const hashText = (text: string): number => {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash, 31) + text.charCodeAt(i);
  return scramble(hash);
};

/**
 * Calls back with each group of two or more.
 * @param hashOf undefined for one that belongs to no group
 * @param areEqual asked only of those with one hash, or nearly
 */
export type Grouping = (
  hashOf: (member: number) => number | undefined,
  areEqual: (one: number, other: number) => boolean,
  visit: (group: readonly number[]) => void,
) => void;

/** @param count of the things, which are numbered from 0; 12 to 20 bytes are kept of each */
export function openGrouping(count: number): Grouping {
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2)));
  const mask = slots.length - 1;
  /** The one before it in its group, or -1. */
  const before = new Int32Array(count);
  return (hashOf, areEqual, visit) => {
    slots.fill(-1);
    const lasts = new Set<number>();
    for (let member = 0; member < count; member++) {
      const hash = hashOf(member);
      if (hash === undefined) continue;
      let slot = scramble(hash) & mask;
      let last = slots[slot] as number;
      while (last !== -1 && !areEqual(last, member)) {
        slot = (slot + 1) & mask;
        last = slots[slot] as number;
      }
      before[member] = last;
      slots[slot] = member;
      if (last === -1) continue;
      lasts.delete(last);
      lasts.add(member);
    }
    for (const last of lasts) {
      const group: number[] = [];
      for (let member = last; member !== -1; member = before[member] as number) group.push(member);
      visit(group);
    }
  };
}
