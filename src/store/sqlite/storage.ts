/** A storage location in SQLite: a database file, and the keys' file beside it. */
import { KIGALI, type TimeZone } from '../../domain/values/date-time.ts';
import type { Storage, StorageDependencies } from '../contract/storage.ts';
import { placeOf } from './backup/backup-place.ts';
import { datedFolderIn, listDatedBackups, pruneDatedBackups } from './backup/dated-backups.ts';
import { assertUnused, isInService } from './backup/in-use.ts';
import { findNewestBackup } from './backup/newest-backup.ts';
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
import { assertNothingLeft } from './files/left-files.ts';
import {
  deskFileOf,
  deskFolderOf,
  exists,
  keysFileOf,
  ledgerFolderOf,
  ownsFile,
} from './files/registry-files.ts';
import { openHistory } from './journal/history.ts';
import { openJournal } from './journal/journal.ts';
import { findOldLedgerFiles, openCommandLedger, pruneLedger } from './ledger/command-ledger.ts';
import { findLostKeys, readLedgerCondition } from './ledger/condition.ts';
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
export { timeZoneOf } from './statistics/registry-time-zone.ts';

/** @param file path of the database */
export function openStorage(file: string, dependencies: StorageDependencies): Storage {
  const { clock, scheduler, zone, measureCommit } = dependencies;
  const monotonicMs = () => clock.monotonicMs();
  const zoneNow = () => zone ?? timeZoneOf(file) ?? KIGALI;
  const formatNow = () => createReadModelFormat(zoneNow());
  const { complete, readable } = pathsOf(file, zone);
  const waitMsFor = (use?: string) => (use === 'serve' ? WAIT_MS.serving : WAIT_MS.command);
  return {
    location: file,
    exists: () => exists(complete()),
    ownsFile: (path) => ownsFile(file, path),
    ledgerFolder: ledgerFolderOf(file),
    deskFile: deskFileOf(file),
    deskFolder: deskFolderOf(file),
    serveLedger: (options) => openServiceLedger(readable(), options),
    openCommandLedger: () => openCommandLedger(readable()),
    openLedgerReader: () => openLedgerReader(readable()),
    findOldLedgerFiles: (retention) => findOldLedgerFiles(readable(), retention),
    pruneLedger: (retention) => pruneLedger(readable(), retention),
    readLedgerCondition: (retention) => readLedgerCondition(file, retention),
    openRegistry: () =>
      openSqliteRegistry({ file: readable(), monotonicMs, scheduler, format: formatNow(), measureCommit }),
    openKeys: (use) =>
      openApiKeys(keysFileOf(readable()), {
        waitMs: waitMsFor(use),
        create: use !== 'manage',
        scheduler,
      }),
    findLostKeys: () => findLostKeys(complete()),
    hasKeys: () => exists(keysFileOf(file)),
    hasWebhooks: () => hasWebhooks(file),
    openWebhooks: (use) => openWebhooks(readable(), { waitMs: waitMsFor(use), create: use === 'issue' }),
    openImportSession: (use) => openImportSession(readable(), formatNow(), monotonicMs, use),
    openJournal: (use) =>
      openJournal(readable(), { format: formatNow(), monotonicMs, waitMs: waitMsFor(use) }),
    openCorrections: (use) =>
      openCorrections(readable(), { format: formatNow(), monotonicMs, waitMs: waitMsFor(use) }),
    openHeldData: () => openHeldData(readable()),
    openHistory: () => openHistory(readable()),
    openExportSession: () => openExportSession(readable()),
    openSpool: () => openSpool(readable()),
    openStatistics: () => openCommandStatistics(readable(), zoneNow()),
    isServed: () => isInService(file),
    readCondition: async (use) => readCondition(readable(), formatNow(), waitMsFor(use)),
    check: () => checkFiles(readable(), formatNow()),
    refreshReadModel: (nowSeconds) => {
      readable();
      return summarize(file, formatNow(), nowSeconds);
    },
    timeZone: () => timeZoneOf(complete()),
    changeTimeZone: async (nowSeconds) => {
      complete();
      await assertUnused(
        file,
        0,
        (used) => `A process has ${used} open. Stop the service and every command on it, then try again.`,
      );
      return summarize(file, formatNow(), nowSeconds);
    },
    removeStaleStaging: () => removeStaleStaging(file),
    backUp: async (folder, options) => writeRememberedBackup(complete(), folder, options),
    verifyBackup: (folder, now) => verifyRemembered(file, folder, now),
    pruneBackups: pruneDatedBackups,
    datedFolderIn,
    backupPlaceOf: (folder) => placeOf(file, folder),
    listBackups: listDatedBackups,
    findNewestBackup: async (parent) => findNewestBackup(file, parent),
    restore: (folder, options) => restoreBackup(file, folder, { zone, monotonicMs }, options),
  };
}

function pathsOf(file: string, zone: TimeZone | undefined) {
  let isInZone = false;
  /** The path. @throws StorageError while a restore is under way, or where the registry is missing */
  const complete = (): string => {
    assertNotRestoring(file);
    assertNothingLeft(file);
    return file;
  };
  /** The path, for whatever opens it. @throws StorageError also when it is in another time zone */
  const readable = (): string => {
    complete();
    if (!isInZone) isInZone = zone === undefined || assertTimeZone(file, zone);
    return file;
  };
  return { complete, readable };
}

/** Computes what is of another release or time zone, or was left by a killed import. */
const summarize = (file: string, format: ReadModelFormat, nowSeconds: number): number =>
  withDatabase(file, { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA }, (db) => {
    indexNames(db, { pause: letOthersWrite });
    renewTotals(db, format.zone);
    return refreshOutOfDate(db, format, { nowSeconds, pause: letOthersWrite });
  });
