/**
 * Lambda's own runtime client, where `.ci/install-lambda-runtime` puts it.
 *
 * It is no dependency of the project, because it is compiled for a minute: tests under it are skipped without it, and
 * fail without it where `RUNTIME_CLIENT_REQUIRED` is set, so that nobody takes a skip in CI for a pass.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../house/source-files.ts';

const pinned = JSON.parse(readFileSync(join(projectRoot, '.ci/lambda-runtime/package.json'), 'utf8'));
const version: string = pinned.dependencies['aws-lambda-ric'];
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const main = join(cache, 'node-rotation', `aws-lambda-ric-${version}`, 'node_modules/aws-lambda-ric/index.mjs');

/** The file to start; undefined where it is not installed. */
export const runtimeClient: string | undefined = existsSync(main) ? main : undefined;

export const runtimeClientRequired = Boolean(process.env.RUNTIME_CLIENT_REQUIRED);

/** What a test without it says. */
export const withoutRuntimeClient = `aws-lambda-ric ${version} is not installed: run .ci/install-lambda-runtime`;
