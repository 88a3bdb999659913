/**
 * The sign that a list of members is another cooperative's (docs/import-reference.md#warnings). Which signs
 * stop a file is in store/contract/import/import-warnings.ts; import/run/import-files.ts stops it.
 */
import { ENDED } from '../../identity/transfers.ts';
import { saying } from '../checks/check-statements.ts';

/**
 * One person or two may join a second cooperative; with fewer rows than this a share says nothing. Those whom
 * the list would give another code or name are not known by it: people who belong to both cooperatives are
 * overwritten by the list of the wrong one. Where most have left the other cooperative, they may have moved.
 */
const FEWEST_OF_OTHER = 3;
const LISTED_ELSEWHERE =
  '{found} of the {rows} members listed for {code} are members of {other}: is this the right code?';
export const MEMBERS_OF_ANOTHER_COOPERATIVE = `WITH
  others AS MATERIALIZED (SELECT r.cooperative_code AS code, m.cooperative_id AS other, count(*) AS rows
    FROM staging.elsewhere e CROSS JOIN staging.rows r ON r.line = e.line
    CROSS JOIN main.members m ON m.id = e.member_id
    GROUP BY 1, 2 HAVING count(*) >= ${FEWEST_OF_OTHER}
      AND 2 * sum(m.status NOT IN (${ENDED})) >= count(*)),
  renamed AS MATERIALIZED (SELECT DISTINCT line FROM staging.changes
    WHERE "column" IN ('identity_card', 'member_code', 'full_name')),
  listed AS (SELECT r.cooperative_code AS code, count(*) AS rows, count(p.id) - count(x.line) AS here
    FROM staging.rows r
    CROSS JOIN staging.resolved_references p ON p.line = r.line
    LEFT JOIN renamed x ON x.line = r.line
    WHERE r.cooperative_code IN (SELECT code FROM others) GROUP BY 1)
  SELECT r.line,
    ${saying(LISTED_ELSEWHERE, { found: 'o.rows', rows: 'l.rows', code: 'o.code', other: 'c.code' })}
  FROM others o CROSS JOIN listed l ON l.code = o.code CROSS JOIN main.cooperatives c ON c.id = o.other
  CROSS JOIN staging.rows r ON r.cooperative_code = o.code
  CROSS JOIN staging.elsewhere e ON e.line = r.line
  CROSS JOIN main.members m ON m.id = e.member_id AND m.cooperative_id = o.other
  WHERE o.rows * 10 >= l.rows * 9 AND l.here * 10 < l.rows`;
