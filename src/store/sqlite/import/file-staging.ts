/** The staging of one file: its rows and faults as they are read, then the checks over all of them. */
import type { FileStaging } from '../../ports/import-session.ts';
import { openCheckedFile } from './checked-file.ts';
import { TRAILING_ZERO } from './checks.ts';
import type { FileScope } from './file-scope.ts';
import { checkAgainstRegistry, runChecks } from './run-checks.ts';
import { createFileTables, inStaging, openFaultInsert, openRowInsert } from './tables.ts';

export function stageFile(scope: FileScope): FileStaging {
  const { db, kind, assertCurrent } = scope;
  createFileTables(db, kind);
  const insertRows = openRowInsert(db, kind);
  const insertFaults = openFaultInsert(db);
  let isChecked = false;
  const assertUnchecked = () => {
    assertCurrent();
    if (isChecked) throw new Error('This file was checked already.');
  };

  return {
    addRows(rows) {
      assertUnchecked();
      inStaging(db, () => insertRows(rows));
    },
    addFaults(faults) {
      assertUnchecked();
      inStaging(db, () => insertFaults(faults));
    },
    check(options) {
      assertUnchecked();
      isChecked = true;
      if (kind === 'members' && !options.acceptTrailingZero) runChecks(db, [TRAILING_ZERO], 'file');
      const checkedVersion = checkAgainstRegistry(scope);
      return openCheckedFile(scope, checkedVersion, options);
    },
  };
}
