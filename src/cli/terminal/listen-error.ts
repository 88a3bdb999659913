/** What an operator is told when a port cannot be listened on. */
import type { SocketAddress } from '../../config.ts';
import { CommandError, EXIT } from './context.ts';

interface ListeningPlace extends SocketAddress {
  /** What names the port. */
  readonly setting: string;
}

/** An error of listening that the operator can act on; any other error as it is. */
export function toListenError(error: unknown, { host, port, setting }: ListeningPlace): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CommandError(EXIT.refused, `Port ${port} is in use. Choose another one with ${setting}.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CommandError(EXIT.usage, `${host} is not an address of this machine.`);
    case 'EACCES':
      return new CommandError(
        EXIT.refused,
        `This process may not listen on port ${port}. Choose one above 1023.`,
      );
    default:
      return error;
  }
}
