/** Everything that tests need and npm does not have. */
import { buildDialectChecker } from './cockroach-dialect/run.ts';
import { buildComposeReader } from './compose/compose.ts';
import { findOrMakeDebian } from './debian.ts';
import { buildGoProgram, pathOf } from './go-program.ts';
import { findOrMakeKubernetesValidate } from './kubernetes-schemas.ts';
import { findOrMakeMoto } from './moto.ts';
import { type Environment, findOrInstallProgram, type Program } from './program.ts';
import { findOrMakePython } from './python.ts';

// --- Debian's packages -------------------------------------------------------------------------------------

/** Makes the keys of encrypted backups. */
export const ageKeygen: Program = {
  name: 'age-keygen',
  variable: 'AGE_KEYGEN_PATH',
  commands: ['age-keygen'],
  package: 'age',
};

/** The browser of the end-to-end tests. */
export const chromium: Program = {
  name: 'Chromium',
  variable: 'CHROMIUM_PATH',
  commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  package: 'chromium',
};

/** The documents try the API with it. */
export const curl: Program = {
  name: 'curl',
  variable: 'CURL_PATH',
  commands: ['curl'],
  package: 'curl',
};

/** A database as the existing server has it, for the tests of the import. Its package brings no service along. */
export const mariadb: Program = {
  name: 'MariaDB',
  variable: 'MARIADB_PATH',
  commands: ['mariadbd'],
  package: 'mariadb-server-core',
};

/** The broker for tests of a cluster. */
export const natsServer: Program = {
  name: 'nats-server',
  variable: 'NATS_SERVER_PATH',
  commands: ['nats-server'],
  package: 'nats-server',
};

/**
 * A widespread mail server, for the tests of mail. It comes without a configuration, so installing it starts nothing.
 */
export const postfix: Program = {
  name: 'Postfix',
  variable: 'POSTFIX_PATH',
  commands: ['postfix'],
  package: 'postfix',
  answers: ['postfix postfix/main_mailer_type select No configuration'],
};

/** Runs the queries of the dashboards. It comes with `promtool`. */
export const prometheus: Program = {
  name: 'Prometheus',
  variable: 'PROMETHEUS_PATH',
  commands: ['prometheus'],
  package: 'prometheus',
};

/** Checks and tests the alerts of the chart. */
export const promtool: Program = {
  name: 'promtool',
  variable: 'PROMTOOL_PATH',
  commands: ['promtool'],
  package: 'prometheus',
};

/** Common reverse proxies, for the tests of the guide and of a web app beside the server. */
export const nginx: Program = {
  name: 'nginx',
  variable: 'NGINX_PATH',
  commands: ['nginx'],
  package: 'nginx',
};
export const caddy: Program = {
  name: 'Caddy',
  variable: 'CADDY_PATH',
  commands: ['caddy'],
  package: 'caddy',
};
export const haproxy: Program = {
  name: 'HAProxy',
  variable: 'HAPROXY_PATH',
  commands: ['haproxy'],
  package: 'haproxy',
};

// --- of Go and Python --------------------------------------------------------------------------------------

/** Tests render the chart with it. */
const helm = { name: 'Helm', package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' };

export const helmProgram = pathOf(helm);
export const buildHelm = (): void => buildGoProgram(helm);

/** Writes the chart's README from the comments of its values. */
const helmDocs = {
  name: 'helm-docs',
  package: 'github.com/norwoodj/helm-docs/cmd/helm-docs',
  version: 'v1.14.2',
};

export const helmDocsProgram = pathOf(helmDocs);
export const buildHelmDocs = (): void => buildGoProgram(helmDocs);

/** Runs the load tests (load-tests/README.md). */
const k6 = { name: 'k6', package: 'go.k6.io/k6', version: 'v1.8.1' };

export const k6Program = pathOf(k6);
export const buildK6 = (): void => buildGoProgram(k6);

/** The mail server of the tests. */
const aiosmtpd = {
  name: 'aiosmtpd',
  version: '1.4.6',
  packages: ['aiosmtpd==1.4.6', 'atpublic==9.0.0', 'attrs==26.1.0'],
};

/** The Python that has it. @throws Error, one line, if it cannot be installed */
export const findOrMakeAiosmtpd = (environment: Environment): string =>
  findOrMakePython(aiosmtpd, environment);

// --- all of them -------------------------------------------------------------------------------------------

/** The programs to compile: on first use on a machine they take minutes. Each throws an error of one line. */
export const builds: Readonly<Record<string, () => void>> = {
  'CockroachDB’s SQL parser': buildDialectChecker,
  'the reader of compose.yaml': buildComposeReader,
  Helm: buildHelm,
  'helm-docs': buildHelmDocs,
  k6: buildK6,
};

export interface Programs {
  /** Their files, by the environment variables that name them. */
  readonly found: Readonly<Record<string, string>>;
  /** Without a program, the tests that need it fail, each with the same line, and all others run. */
  readonly problems: readonly string[];
}

/** Installs or makes what is missing. */
export function findOrMakePrograms(environment: Environment): Programs {
  const found: Record<string, string> = {};
  const problems: string[] = [];
  const attempt = (make: () => unknown): void => {
    try {
      make();
    } catch (error) {
      problems.push((error as Error).message);
    }
  };
  for (const program of [
    ageKeygen,
    chromium,
    natsServer,
    curl,
    mariadb,
    postfix,
    promtool,
    prometheus,
    nginx,
    caddy,
    haproxy,
  ]) {
    attempt(() => {
      found[program.variable] = findOrInstallProgram(program, environment);
    });
  }
  for (const findOrMake of [
    findOrMakeAiosmtpd,
    findOrMakeMoto,
    findOrMakeKubernetesValidate,
    findOrMakeDebian,
  ]) {
    attempt(() => findOrMake(environment));
  }
  return { found, problems };
}
