/** What is recorded of an import besides what it did. */

/** What an import was given, as far as the registry cannot know it by itself. */
export interface ImportRecord {
  /** Without its folder. */
  readonly fileName: string;
  /** Of the bytes of the file, 64 hexadecimal digits. */
  readonly sha256: string;
  /** How the file was read; null without a map. Like `options` and `notes`, anything that JSON can hold. */
  readonly map: unknown;
  readonly options: unknown;
  /** What was read leniently or skipped; no value of the file. */
  readonly notes: unknown;
  /** Name of the operating system's user. */
  readonly systemUser: string;
}
