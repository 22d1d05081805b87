// Which folder may import what. Every row says what is allowed; all else, a package or a built-in module included, is
// a violation. The arrows point one way: domain, engine, controller, then adapters and simulator, then functions and
// the command line.

const npm = (...names) => names.map((name) => `^node_modules/(@types/)?${name}/`);
const builtIn = (...names) => names.map((name) => `^(node:)?${name}$`);
const anyBuiltIn =
  '^(node:)?(assert|buffer|child_process|crypto|events|fs|http|https|net|os|path|perf_hooks|process|readline|stream|timers|tls|tty|url|util|v8|worker_threads|zlib)(/|$)';

/** A rule that reports every import of `from` that none of the `allowed` patterns matches. */
function row(name, from, allowed, comment) {
  return { name, severity: 'error', comment, from, to: { pathNot: allowed } };
}

/** A rule that lets `from` take types, and nothing that exists at run time, from `to`. */
function typesOnly(name, from, to, comment) {
  return { name, severity: 'error', comment, from, to: { path: to, dependencyTypesNot: ['type-only'] } };
}

const kubernetes = { path: '^lib/adapters/kubernetes/' };
const aws = { path: '^lib/adapters/aws/' };
const apiServer = { path: '^lib/simulator/api-server\\.ts$' };

export default {
  forbidden: [
    row(
      'domain',
      { path: '^lib/domain/', pathNot: '^lib/domain/wall-clock\\.ts$' },
      ['^lib/domain/'],
      'Nouns and arithmetic know nothing but each other.',
    ),
    row(
      'wall-clock',
      { path: '^lib/domain/wall-clock\\.ts$' },
      ['^lib/domain/', ...npm('luxon')],
      'The one file that knows time zones.',
    ),
    row(
      'engine',
      { path: '^lib/engine/' },
      ['^lib/(domain|engine)/'],
      'Decisions are pure: they see the snapshot and nothing else.',
    ),
    row(
      'controller',
      { path: '^lib/controller/' },
      ['^lib/(domain|engine|controller)/'],
      'The shell reaches the world through its ports.',
    ),
    row(
      'simulator',
      { path: '^lib/simulator/', pathNot: apiServer.path },
      ['^lib/(domain|engine|controller|simulator)/'],
      'The simulated cluster is arithmetic around the real engine.',
    ),
    row(
      'simulator-api-server',
      apiServer,
      ['^lib/(domain|engine|controller|simulator)/', ...builtIn('https', 'http', 'net')],
      'The HTTPS face serves sockets; its certificate is handed in.',
    ),
    typesOnly(
      'simulator-api-server-types',
      apiServer,
      builtIn('http', 'net'),
      'node:https names its requests and addresses with the types of node:http and node:net.',
    ),
    row(
      'adapters-kubernetes',
      kubernetes,
      [
        '^lib/(domain|engine|adapters/kubernetes)/',
        '^lib/controller/ports\\.ts$',
        ...npm('@kubernetes/client-node', '@smithy/signature-v4', '@aws-crypto/sha256-js', 'zod'),
        anyBuiltIn,
      ],
      'Speaks to the Kubernetes API; the two signing packages make the token of an EKS cluster.',
    ),
    row(
      'adapters-aws',
      aws,
      [
        '^lib/(domain|engine|adapters/aws)/',
        '^lib/controller/ports\\.ts$',
        ...npm('@aws-sdk/[^/]+', '@aws-lambda-powertools/metrics', 'zod'),
        anyBuiltIn,
      ],
      'Speaks to AWS; CloudWatch metrics are written through Powertools.',
    ),
    row(
      'adapters',
      { path: '^lib/adapters/', pathNot: [kubernetes.path, aws.path] },
      ['^$'],
      'An adapter lives in the folder of the world it speaks to.',
    ),
    typesOnly(
      'adapters-decide-nothing',
      { path: '^lib/adapters/' },
      '^lib/engine/',
      'An adapter carries out an Action; only its shape comes from the engine.',
    ),
    row(
      'report',
      { path: '^lib/report/' },
      ['^lib/(domain|report)/'],
      'Rotations told and drawn from their audit rows, for the command line and for the dashboard.',
    ),
    row(
      'cli',
      { path: '^lib/cli/' },
      [
        '^(lib|functions)/',
        ...npm('commander', 'ora', 'yaml', 'dynalite', '@peculiar/x509', 'reflect-metadata'),
        anyBuiltIn,
      ],
      'The command line composes everything, the handlers included.',
    ),
    row(
      'functions',
      { path: '^functions/([^/]+)/' },
      [
        '^functions/$1/',
        '^lib/(controller|engine|adapters|report)/',
        ...npm('@aws-lambda-powertools/[^/]+', 'aws-lambda'),
        anyBuiltIn,
      ],
      'Entry points compose; they decide nothing, and one function does not reach into another.',
    ),
    row(
      'infra',
      { path: '^infra/' },
      [
        '^infra/',
        '^functions/[^/]+/environment\\.ts$',
        '^lib/adapters/aws/metric-names\\.ts$',
        ...npm('aws-cdk-lib', 'constructs', 'cdk-nag', 'yaml', 'zod'),
        anyBuiltIn,
      ],
      'The deployment shares names with the code it deploys, and nothing more.',
    ),
    {
      name: 'known-folder',
      severity: 'error',
      comment: 'A new folder in lib/ needs its own row in this file.',
      from: { path: '^lib/', pathNot: '^lib/(domain|engine|controller|adapters|simulator|report|cli)/' },
      to: {},
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Two files that need each other are one file, or three.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file that nothing imports and that imports nothing is dead.',
      from: { orphan: true, path: '^lib/' },
      to: {},
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'An import that leads nowhere hides from every other rule.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: '^node_modules/' },
    // Types count: a decision typed by an adapter is as coupled to it as one that calls it.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default', 'require'],
      mainFields: ['module', 'main', 'types', 'typings'],
      extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};
