/** What a key sees: the rows of all cooperatives, or of some. */

/** Ids of the cooperatives whose rows are seen; null: of all. */
export type Visible = readonly number[] | null;

export const isVisible = (visible: Visible, cooperativeId: number): boolean =>
  visible === null || visible.includes(cooperativeId);

/**
 * The cooperatives of a list.
 * @param cooperativeId which the list asks for; undefined for all
 * @returns undefined for all; empty when the one that is asked for is not seen
 */
export function visibleGroups(
  visible: Visible,
  cooperativeId: number | undefined,
): readonly number[] | undefined {
  if (cooperativeId === undefined) return visible ?? undefined;
  return isVisible(visible, cooperativeId) ? [cooperativeId] : [];
}
