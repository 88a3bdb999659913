/** The executable on a day after the newest date of the samples, whatever day it is. */
const startMs = Date.now();
Date.now = () => Date.UTC(2026, 9, 1) + performance.timeOrigin + performance.now() - startMs;
await import('../../src/main.ts');
