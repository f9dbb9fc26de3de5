/** Documented commands that no test types here, with the reason. */
export interface NotRun {
  readonly file: string;
  readonly section: string;
  /** How those commands of the section begin; without it, all of them. */
  readonly beginning?: string;
  readonly reason: string;
}

export const notRun: readonly NotRun[] = [
  {
    file: 'docs/operations.md',
    section: 'When the database has lost commits',
    reason: 'needs a PostgreSQL of its own; process/lost-commits.test.ts runs the same script',
  },
  { file: 'README.md', section: 'Test it', reason: 'is what runs this test' },
  {
    file: 'docs/cluster.md',
    section: 'Three processes on one machine',
    reason: 'needs the PostgreSQL of a system and fixed ports; test/cluster starts three such processes',
  },
  {
    file: 'docs/kubernetes.md',
    section: 'The image',
    beginning: 'docker push',
    reason: 'needs a registry of images; test/kubernetes gives the same image to the nodes',
  },
];
