/** What an export has written, to be sent as fast as its client takes it. */
import { close, read } from 'node:fs';
import { promisify } from 'node:util';

const READ_BYTES = 256 * 1024;

const readAt = promisify(read);

/** A file without a name, which is closed as soon as nothing uses it. */
export class Spool {
  private readonly descriptor: number;
  private readonly onClosed: () => void;
  private uses = 0;
  private isEnded = false;
  private isClosed = false;

  constructor(descriptor: number, onClosed: () => void = () => {}) {
    this.descriptor = descriptor;
    this.onClosed = onClosed;
  }

  /** Keeps it open for as long as `work` takes: another file could get the descriptor. */
  async use<T>(work: (descriptor: number) => Promise<T>): Promise<T> {
    this.uses++;
    try {
      return await work(this.descriptor);
    } finally {
      this.uses--;
      this.closeIfUnused();
    }
  }

  close(): void {
    this.isEnded = true;
    this.closeIfUnused();
  }

  async *read(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let position = 0; !this.isEnded; ) {
      const { bytesRead } = await this.use((descriptor) =>
        readAt(descriptor, buffer, 0, READ_BYTES, position),
      );
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  private closeIfUnused(): void {
    if (!this.isEnded || this.uses > 0 || this.isClosed) return;
    this.isClosed = true;
    close(this.descriptor, this.onClosed);
  }
}
