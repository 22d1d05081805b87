/**
 * Credentials in other accounts: a role is assumed once, its session kept while it lasts and shared by all who ask.
 *
 * A role chain lasts an hour at most. Sessions are named after the work, so that the other account's log shows it.
 */
import { AssumeRoleCommand, STSClient, type STSClientConfig } from '@aws-sdk/client-sts';

export interface Role {
  readonly roleArn: string;
  readonly externalId?: string | undefined;
}

export interface Session {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

const minute = 60_000;
/** A session is made anew this long before its end. */
const early = 5 * minute;
const longestName = 64;
const mostSessions = 200;

/** A session name as STS accepts it: at most 64 characters of a narrow alphabet. @design D9-03 */
export const sessionName = (work: string): string =>
  `node-rotation-${work}`.replace(/[^\w+=,.@-]/g, '-').slice(0, longestName);

export class AccountRoles {
  readonly #client: STSClient;
  readonly #now: () => number;
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor({ client, now = Date.now }: { client?: STSClient; now?: () => number } = {}) {
    this.#client = client ?? stsClient();
    this.#now = now;
  }

  /** A provider of credentials, as the SDK's clients take them. @throws what STS answers; nothing of it is kept */
  provider({ roleArn, externalId }: Role, work: string): () => Promise<Session> {
    const key = JSON.stringify([roleArn, externalId, work]);
    return async () => {
      const known = this.#sessions.get(key);
      if (known !== undefined && (await known).expiration.getTime() - early > this.#now()) return await known;
      const session = this.#assume({ roleArn, externalId }, work);
      this.#keep(key, session);
      try {
        return await session;
      } catch (error) {
        if (this.#sessions.get(key) === session) this.#sessions.delete(key);
        throw error;
      }
    };
  }

  #keep(key: string, session: Promise<Session>): void {
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > mostSessions && oldest !== undefined) this.#sessions.delete(oldest);
  }

  async #assume({ roleArn, externalId }: Role, work: string): Promise<Session> {
    const { Credentials } = await this.#client.send(
      new AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: sessionName(work),
        ...(externalId === undefined ? {} : { ExternalId: externalId }),
      }),
      { abortSignal: AbortSignal.timeout(5_000) },
    );
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
    if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) {
      throw new Error(`STS answered without credentials for ${roleArn}`);
    }
    return {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
      expiration: Expiration,
    };
  }
}

/** A client of the function's own region, whose calls end. */
const stsClient = (config: STSClientConfig = {}): STSClient => new STSClient({ maxAttempts: 3, ...config });
