/** The module `statistics`: a command, routes, pages and plots of the desk. */
import type { Module } from '../module.ts';

export const STATISTICS: Module = {
  commands: {
    statistics: {
      description: 'totals of a cooperative, or of all: members, production, loans, savings',
      before: 'ledger',
      load: async () => (await import('./statistics-command.ts')).declareStatistics,
    },
  },
  service: async () => (await import('./statistics-routes.ts')).serveStatistics,
  screens: async () => {
    const { COMPARE, COUNTRY } = await import('./compare.ts');
    return [COUNTRY, COMPARE];
  },
  figures: async () => (await import('./statistics-plots.ts')).FIGURES,
};
