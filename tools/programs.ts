/** Everything that tests need and npm does not have. */
import { findOrMakeAiosmtpd } from './aiosmtpd.ts';
import { chromium } from './chromium.ts';
import { buildDialectChecker } from './cockroach-dialect/run.ts';
import { curl } from './curl.ts';
import { findOrMakeDebian } from './debian.ts';
import { buildHelm } from './helm.ts';
import { buildHelmDocs } from './helm-docs.ts';
import { buildK6 } from './k6.ts';
import { findOrMakeKubernetesValidate } from './kubernetes-schemas.ts';
import { mariadb } from './mariadb.ts';
import { findOrMakeMoto } from './moto.ts';
import { natsServer } from './nats-server.ts';
import { postfix } from './postfix.ts';
import { type Environment, findOrInstallProgram } from './program.ts';
import { prometheus } from './prometheus.ts';
import { promtool } from './promtool.ts';
import { caddy, haproxy, nginx } from './proxies.ts';

/** The programs to compile: on first use on a machine they take minutes. Each throws an error of one line. */
export const builds: Readonly<Record<string, () => void>> = {
  'CockroachDB’s SQL parser': buildDialectChecker,
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
