/** A storage location in SQLite: a database file, and the keys' file beside it. */
import type { TimeZone } from '../../domain/values/date-time.ts';
import type { Storage, StorageDependencies } from '../contract/storage.ts';
import { placeOf } from './backup/backup-place.ts';
import { datedFolderIn, listDatedBackups, pruneDatedBackups } from './backup/dated-backups.ts';
import { assertNotFenced, fence, isFenced } from './backup/fence.ts';
import { assertUnused, isInService } from './backup/in-use.ts';
import { repairLedger } from './backup/ledger-copy.ts';
import { verifyRemembered, writeRememberedBackup } from './backup/remembered-backups.ts';
import { restoreBackup } from './backup/restore-backup.ts';
import { assertNotRestoring } from './backup/restoring-folder.ts';
import { checkFiles } from './check/check.ts';
import { readCondition } from './condition/read-condition.ts';
import { openCorrections } from './corrections/store.ts';
import { withDatabase } from './engine/open-database.ts';
import { WAIT_MS } from './engine/pragmas.ts';
import { openApiKeys } from './entities/api-keys.ts';
import { openExportSession } from './exports/session.ts';
import { openSpool } from './files/durable-files.ts';
import {
  deskFileOf,
  deskFolderOf,
  exists,
  keysFileOf,
  ledgerFileOf,
  ownsFile,
} from './files/registry-files.ts';
import { openHistory } from './journal/history.ts';
import { openJournal } from './journal/journal.ts';
import { openCommandLedger } from './ledger/command-ledger.ts';
import { readLedgerCondition } from './ledger/condition.ts';
import { openLedgerReader } from './ledger/ledger-reader.ts';
import { openServiceLedger } from './ledger/service-ledger.ts';
import { openHeldData } from './persons/held-data.ts';
import type { ReadModelFormat } from './read-model/format.ts';
import { createReadModelFormat } from './read-model/format.ts';
import { letOthersWrite, refreshOutOfDate } from './read-model/refresh.ts';
import { openSqliteRegistry } from './registry.ts';
import { REGISTRY_SCHEMA } from './schema/migrations/registry.ts';
import { indexNames } from './search/index-names.ts';
import { openImportSession } from './staging/session.ts';
import { removeStaleStaging } from './staging/staged/staging-database.ts';
import { assertTimeZone, timeZoneOf } from './statistics/registry-time-zone.ts';
import { openCommandStatistics } from './statistics/store.ts';
import { renewTotals } from './statistics/stored-totals.ts';
import { hasWebhooks, openWebhooks } from './webhooks/store.ts';

/** An engine's own error as one that an operator understands; undefined for one that is not about storage. */
export { toStorageError } from './engine/errors.ts';

/** @param file path of the database */
export function openStorage(file: string, dependencies: StorageDependencies): Storage {
  const { clock, scheduler, zone, measureCommit } = dependencies;
  const monotonicMs = () => clock.monotonicMs();
  const format = createReadModelFormat(zone);
  const { complete, readable, settled } = pathsOf(file, zone);
  const waitMsFor = (use?: string) => (use === 'serve' ? WAIT_MS.serving : WAIT_MS.command);
  return {
    location: file,
    exists: () => exists(file),
    ownsFile: (path) => ownsFile(file, path),
    ledgerFile: ledgerFileOf(file),
    deskFile: deskFileOf(file),
    deskFolder: deskFolderOf(file),
    serveLedger: (options) => openServiceLedger(settled(), options),
    openCommandLedger: () => openCommandLedger(settled()),
    openLedgerReader: () =>
      openLedgerReader({ ledgerFile: ledgerFileOf(readable()), keysFile: keysFileOf(file) }),
    repairLedger: (backup) => repairLedger(settled(), backup),
    readLedgerCondition: () => readLedgerCondition(file),
    openRegistry: () =>
      openSqliteRegistry({ file: settled(), monotonicMs, scheduler, format, measureCommit }),
    openKeys: (use) =>
      openApiKeys(keysFileOf(settled()), {
        waitMs: waitMsFor(use),
        create: use !== 'manage',
        scheduler,
      }),
    hasKeys: () => exists(keysFileOf(file)),
    hasWebhooks: () => hasWebhooks(file),
    openWebhooks: (use) => openWebhooks(settled(), { waitMs: waitMsFor(use), create: use === 'issue' }),
    openImportSession: (use) => openImportSession(settled(), format, monotonicMs, use),
    openJournal: (use) => openJournal(settled(), { format, monotonicMs, waitMs: waitMsFor(use) }),
    openCorrections: (use) => openCorrections(settled(), { format, monotonicMs, waitMs: waitMsFor(use) }),
    openHeldData: () => openHeldData(settled()),
    openHistory: () => openHistory(settled()),
    openExportSession: () => openExportSession(settled()),
    openSpool: () => openSpool(settled()),
    openStatistics: () => openCommandStatistics(settled(), zone),
    isServed: () => isInService(file),
    readCondition: async (use) => readCondition(settled(), format, waitMsFor(use)),
    check: () => checkFiles(readable(), format),
    refreshReadModel: (nowSeconds) => {
      settled();
      return summarize(file, format, nowSeconds);
    },
    timeZone: () => timeZoneOf(complete()),
    changeTimeZone: async (nowSeconds) => {
      assertNotFenced(complete());
      await assertUnused(
        file,
        0,
        (used) => `A process has ${used} open. Stop the service and every command on it, then try again.`,
      );
      return summarize(file, format, nowSeconds);
    },
    removeStaleStaging: () => removeStaleStaging(file),
    backUp: async (folder, options) => writeRememberedBackup(complete(), folder, options),
    verifyBackup: (folder, now) => verifyRemembered(file, folder, now),
    pruneBackups: pruneDatedBackups,
    datedFolderIn,
    backupPlaceOf: (folder) => placeOf(file, folder),
    listBackups: listDatedBackups,
    fence: () => fence(file),
    isFenced: () => isFenced(file),
    restore: (folder, options) => restoreBackup(file, folder, { format, monotonicMs }, options),
  };
}

function pathsOf(file: string, zone: TimeZone) {
  let isInZone = false;
  /** The path. @throws StorageError while a restore is under way */
  const complete = (): string => {
    assertNotRestoring(file);
    return file;
  };
  /** The path, for what changes nothing. @throws StorageError also when it is in another time zone */
  const readable = (): string => {
    complete();
    if (!isInZone) isInZone = assertTimeZone(file, zone);
    return file;
  };
  /** The path, for whatever opens it. @throws StorageError also when it is fenced */
  const settled = (): string => {
    assertNotFenced(file);
    return readable();
  };
  return { complete, readable, settled };
}

/** Computes what is of another release or time zone, or was left by a killed import. */
const summarize = (file: string, format: ReadModelFormat, nowSeconds: number): number =>
  withDatabase(file, { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA }, (db) => {
    indexNames(db, { pause: letOthersWrite });
    renewTotals(db, format.zone);
    return refreshOutOfDate(db, format, { nowSeconds, pause: letOthersWrite });
  });
