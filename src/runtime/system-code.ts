/** `ENOENT` and the like, of what the operating system refused; undefined for any other error. */
export const systemCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
