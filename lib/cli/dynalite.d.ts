/** What is used of the embedded DynamoDB, which brings no types of its own. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  export interface Options {
    /** Folder of the database; in memory when unset. */
    readonly path?: string;
    readonly createTableMs?: number;
  }

  export default function dynalite(options?: Options): Server;
}
