/** Connections to receivers: each endpoint has one, which stays open between deliveries. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** Of all endpoints together, idle ones included. */
export const MAX_CONNECTIONS = 16;
const IDLE_MS = 60_000;

interface Connection {
  readonly agent: HttpAgent;
  isBusy: boolean;
}

/** Lends each endpoint its connection, for one attempt at a time. */
export class Connections {
  /** By endpoint; what was used last is last. */
  private readonly opened = new Map<number, Connection>();
  private readonly waiting: (() => void)[] = [];
  private readonly most: number;

  constructor(most = MAX_CONNECTIONS) {
    this.most = most;
  }

  /**
   * Waits for its turn, runs the work, and lets the next one go on. When all connections are in use or
   * belong to others, one that is idle is closed.
   */
  async use<T>(endpointId: number, isTls: boolean, work: (agent: HttpAgent) => Promise<T>): Promise<T> {
    let connection = this.take(endpointId, isTls);
    while (connection === undefined) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
      connection = this.take(endpointId, isTls);
    }
    try {
      return await work(connection.agent);
    } finally {
      connection.isBusy = false;
      this.waiting.shift()?.();
    }
  }

  close(): void {
    for (const { agent } of this.opened.values()) agent.destroy();
    this.opened.clear();
  }

  private take(endpointId: number, isTls: boolean): Connection | undefined {
    let connection = this.opened.get(endpointId);
    if (connection === undefined) {
      if (this.opened.size >= this.most && !this.closeIdle()) return undefined;
      const Agent = isTls ? HttpsAgent : HttpAgent;
      const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_MS });
      connection = { agent, isBusy: true };
    }
    connection.isBusy = true;
    this.opened.delete(endpointId);
    this.opened.set(endpointId, connection);
    return connection;
  }

  private closeIdle(): boolean {
    for (const [endpointId, { agent, isBusy }] of this.opened) {
      if (isBusy) continue;
      agent.destroy();
      this.opened.delete(endpointId);
      return true;
    }
    return false;
  }
}
