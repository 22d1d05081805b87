/**
 * Reads the configuration and builds the deployment from it; see docs/deployment.md.
 */
import { App } from 'aws-cdk-lib';
import { readConfig, readConfigFile } from './config.ts';
import { buildDeployment } from './deployment.ts';
import { targets } from './target.ts';

const app = new App();
const file: unknown = app.node.tryGetContext('config');
const reading = readConfig(typeof file === 'string' ? readConfigFile(file) : app.node.tryGetContext('node-rotation'), {
  account: process.env.CDK_DEFAULT_ACCOUNT,
  region: process.env.CDK_DEFAULT_REGION,
});
const wanted: unknown = app.node.tryGetContext('target') ?? 'aws';
const target = targets.find((known) => known === wanted);

const problems = [
  ...(target === undefined ? [{ path: 'target', problem: `expected one of ${targets.join(', ')}` }] : []),
  ...(reading.valid ? [] : reading.problems),
];
if (reading.valid && target !== undefined) buildDeployment(app, reading.config, target);
else {
  const source = typeof file === 'string' ? file : 'the section node-rotation of cdk.json';
  console.error(`The deployment is not described as it should be by ${source}:`);
  for (const { path, problem } of problems) console.error(`  ${path}: ${problem}`);
  process.exitCode = 1;
}
