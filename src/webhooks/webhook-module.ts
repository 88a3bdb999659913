/** The module `webhooks`: commands, deliveries by the service, and a part of the status. */
import type { Module } from '../module.ts';

export const WEBHOOKS: Module = {
  commands: {
    webhooks: {
      description:
        'endpoints that receive changes: add, list, test, deliveries, replay, skip, rotate, remove',
      before: 'check',
      load: async () => (await import('./webhook-commands.ts')).declareWebhooks,
    },
  },
  service: async () => (await import('./service.ts')).deliverWebhooks(),
  status: async () => (await import('./webhook-status.ts')).readWebhooks,
};
