/** The module `export`: a command, routes, and downloads at the desk. */
import type { Module } from '../module.ts';

export const EXPORT: Module = {
  commands: {
    export: {
      description: 'write all rows of a kind to a file: CSV that can be imported, NDJSON or a workbook',
      before: 'imports',
      load: async () => (await import('./export-command.ts')).declareExport,
    },
  },
  service: async () => (await import('./export-routes.ts')).serveExports,
  ofCooperative: async () => (await import('./export-rows-page.ts')).EXPORTING,
};
