/** The stored values that a correction has changed, for `imports changes`. */
import { CHANGED_ENTITIES } from '../../ports/corrections.ts';
import { labelSql } from './labels.ts';

/**
 * A page of changes between two ids, both parameters; the first is not included.
 * @param limit rows of a page
 */
export function changesOfCorrectionSql(limit: number): string {
  const label = CHANGED_ENTITIES.map((entity) => `WHEN '${entity}' THEN ${labelSql(entity, 'c.row_id')}`);
  return `SELECT c.id, c.line, CASE c.entity ${label.join(' ')} END AS row, c.field AS "column", c.old, c.new
    FROM main.changes c WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ${limit}`;
}
