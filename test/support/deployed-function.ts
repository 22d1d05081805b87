/**
 * A function of the synthesised template, run as Lambda runs it: its own bundle, under the real runtime client, in a
 * process that has the template's environment and nothing of ours.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { account, type Built, ofType, region } from './deployment.ts';
import { type Invoked, RuntimeApi } from './runtime-api.ts';
import type { TemplateValues } from './template-values.ts';

/** What of AWS::Lambda::Function is needed to run one. */
interface FunctionProperties {
  readonly Code: { readonly S3Key: string };
  readonly Handler: string;
  readonly Runtime: string;
  readonly Timeout: number;
  readonly MemorySize: number;
  readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> };
  readonly LoggingConfig: { readonly LogFormat: string; readonly ApplicationLogLevel: string };
}

export interface DeployedFunctionOptions {
  readonly client: string;
  readonly built: Built;
  /** Its folder under functions/. */
  readonly name: 'dispatch' | 'reconcile' | 'widget';
  readonly values: TemplateValues;
  /** Where the SDK finds AWS: its own AWS_ENDPOINT_URL variables. */
  readonly endpoints: Readonly<Record<string, string>>;
}

/** A line that a function printed, however Lambda's log would show it. */
export type LogLine = Readonly<Record<string, unknown>>;

const startsWithin = 20_000;

export class DeployedFunction {
  readonly #name: string;
  readonly #properties: FunctionProperties;
  readonly #api: RuntimeApi;
  readonly #process: ChildProcess;
  readonly #printed = { out: '', err: '' };
  readonly #died: Promise<never>;

  private constructor(api: RuntimeApi, { client, built, name, values, endpoints }: DeployedFunctionOptions) {
    this.#api = api;
    this.#name = name;
    this.#properties = propertiesOf(built, name);
    const { Code, Handler, Runtime, MemorySize, Environment, LoggingConfig } = this.#properties;
    const taskRoot = join(built.app.outdir, `asset.${Code.S3Key.replace(/\.zip$/, '')}`);
    if (!existsSync(taskRoot)) throw new Error(`the bundle of ${name} is not in the cloud assembly: ${taskRoot}`);
    this.#process = spawn(process.execPath, [client, Handler], {
      cwd: taskRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        _HANDLER: Handler,
        AWS_ACCESS_KEY_ID: `ASIA${account}`,
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_SESSION_TOKEN: 'token',
        AWS_REGION: region,
        AWS_DEFAULT_REGION: region,
        AWS_EXECUTION_ENV: `AWS_Lambda_${Runtime}`,
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
        AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
        AWS_LAMBDA_LOG_FORMAT: LoggingConfig.LogFormat,
        AWS_LAMBDA_LOG_LEVEL: LoggingConfig.ApplicationLogLevel,
        AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
        AWS_LAMBDA_LOG_STREAM_NAME: '2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef',
        AWS_LAMBDA_RUNTIME_API: api.address,
        LAMBDA_TASK_ROOT: taskRoot,
        LANG: 'en_US.UTF-8',
        PATH: '/usr/local/bin:/usr/bin/:/bin',
        TZ: ':UTC',
        ...values.texts(Environment.Variables),
        ...endpoints,
      },
    });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed.out += text;
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed.err += text;
    });
    this.#died = new Promise((_, reject) => {
      this.#process.once('close', (code, signal) => {
        reject(new Error(`${name} ended by itself (${code ?? signal}): ${this.#printed.out}${this.#printed.err}`));
      });
    });
    this.#died.catch(() => {});
  }

  /** @returns once its code is loaded and it waits for its first invocation */
  static async start(options: DeployedFunctionOptions): Promise<DeployedFunction> {
    const started = new DeployedFunction(await RuntimeApi.start(), options);
    try {
      await started.#within(startsWithin, started.#api.ready);
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  /** @throws Error when its process ends, or does not answer within the function's timeout */
  async invoke(event: unknown, qualifier?: string): Promise<Invoked> {
    const timeout = this.#properties.Timeout * 1000;
    const functionArn = `arn:aws:lambda:${region}:${account}:function:${this.#name}${qualifier ? `:${qualifier}` : ''}`;
    return await this.#within(timeout, this.#api.invoke(event, { functionArn, timeout }));
  }

  /** Everything that was printed so far. @throws SyntaxError for a line that is not JSON */
  get log(): readonly LogLine[] {
    return [this.#printed.out, this.#printed.err].flatMap((text) =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LogLine),
    );
  }

  async stop(): Promise<void> {
    // It waits for ever, and nothing in it is worth an orderly end.
    this.#process.kill('SIGKILL');
    await this.#died.catch(() => {});
    await this.#api.stop();
  }

  async #within<T>(limit: number, outcome: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const { out, err } = this.#printed;
      timer = setTimeout(() => reject(new Error(`${this.#name} took more than ${limit} ms: ${out}${err}`)), limit);
    });
    try {
      return await Promise.race([outcome, late, this.#died]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function propertiesOf(built: Built, name: string): FunctionProperties {
  const found = Object.entries(ofType(built, 'AWS::Lambda::Function')).find(([id]) =>
    id.toLowerCase().startsWith(name),
  );
  if (found === undefined) throw new Error(`the template has no function ${name}`);
  return found[1].Properties as unknown as FunctionProperties;
}
