/** The public API for programs that embed the registry (docs/embedding.md). */
export * from './embedding/embedded-registry.ts';
