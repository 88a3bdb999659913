/** The staging of one file: its rows and faults as they are read, then the checks over all of them. */
import type { FileStaging } from '../../contract/import/import-session.ts';
import { TRAILING_ZERO } from './checks/checks.ts';
import { readFormerMembers } from './checks/former-members.ts';
import { readReplacedNumbers } from './checks/replaced-numbers.ts';
import { readDataVersion, resolveAndCheck, runChecks } from './checks/run-checks.ts';
import { addPaymentMessages } from './checks/sql-functions.ts';
import { otherTimeZone } from './checks/time-zone-of-references.ts';
import { openCheckedFile } from './import-transaction.ts';
import { hasDerivedReferences, numberEqualRows } from './staged/derived-references.ts';
import { UTC } from './staged/entry-values.ts';
import type { FileScope } from './staged/file-scope.ts';
import { createFileTables, inStaging, openFaultInsert, openRowInsert } from './staged/tables.ts';

export function openStaging(scope: FileScope): FileStaging {
  const { db, kind, assertCurrent } = scope;
  createFileTables(db, kind);
  const insertRows = openRowInsert(db, kind, scope.columns);
  const insertFaults = openFaultInsert(db);
  let hasDerived = false;
  let isChecked = false;
  const assertUnchecked = () => {
    assertCurrent();
    if (isChecked) throw new Error('This file was checked already.');
  };

  return {
    addRows(rows) {
      assertUnchecked();
      if (inStaging(db, () => insertRows(rows))) hasDerived = true;
    },
    addFaults(faults) {
      assertUnchecked();
      inStaging(db, () => insertFaults(faults));
    },
    check(options) {
      assertUnchecked();
      isChecked = true;
      // One transaction, so that the version, all checks and the changes are of the same registry.
      return inStaging(db, () => {
        const checkedVersion = readDataVersion(db);
        const zone = options.zone ?? UTC;
        if (kind === 'payments') addPaymentMessages(db, zone);
        if (kind === 'members' && !options.acceptTrailingZero) runChecks(db, [TRAILING_ZERO], 'file');
        if (hasDerived && hasDerivedReferences(kind)) {
          numberEqualRows(db);
          runChecks(db, [otherTimeZone(kind, zone)], 'file');
        }
        readReplacedNumbers(scope);
        readFormerMembers(scope);
        addMemberCodes(scope);
        const { sha256, readAs, replaces, despiteErasure, isTyped } = options;
        const given = { zone, sha256, readAs, replaces, despiteErasure: despiteErasure === true, isTyped };
        const decided = { ...scope, ...given, hasDerived };
        resolveAndCheck(decided);
        return openCheckedFile(decided, checkedVersion, options);
      });
    },
  };
}

/**
 * Fills in the member codes of entries that name their member by national ID only. Runs once, before anything
 * is resolved: what another writer changes afterwards shows as a fault of the repeated checks.
 */
function addMemberCodes({ db, kind, columns }: FileScope): void {
  if (kind === 'members' || !columns.has('identity_card')) return;
  db.exec(`UPDATE staging.rows AS r SET member_code = coalesce(
      (SELECT m.member_code FROM main.cooperatives c
       CROSS JOIN main.members m ON m.identity_card = r.identity_card AND m.cooperative_id = c.id
       WHERE c.code = r.cooperative_code),
      (SELECT k.member_code FROM staging.known_members k
       WHERE k.cooperative_code = r.cooperative_code AND k.identity_card = r.identity_card))
    WHERE member_code IS NULL AND identity_card IS NOT NULL`);
}
