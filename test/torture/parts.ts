/** The parts of `make torture`, in the order in which they run. */
import { stepClocks } from './clock-steps.ts';
import { switchMachines } from './copies.ts';
import { failSyncs } from './failing-sync.ts';
import type { Part } from './figures.ts';
import { fillDisks } from './full-disk.ts';
import { killServices } from './kills/kills.ts';
import { cutPower } from './power-cuts/power-cuts.ts';

export const PARTS = {
  kills: killServices,
  copies: switchMachines,
  'power-cuts': cutPower,
  'failing-sync': failSyncs,
  'full-disk': fillDisks,
  'clock-steps': stepClocks,
} as const satisfies { readonly [name: string]: Part };
export type PartName = keyof typeof PARTS;

export const isPart = (name: string): name is PartName => Object.hasOwn(PARTS, name);
