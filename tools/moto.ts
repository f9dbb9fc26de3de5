/** The S3 server of the tests: moto and its dependencies. */
import type { Environment } from './program.ts';
import { findOrMakePython } from './python.ts';

const moto = {
  name: 'moto',
  version: '5.2.5',
  packages: [
    'blinker==1.9.0',
    'boto3==1.44.5',
    'botocore==1.44.5',
    'certifi==2026.10.18',
    'cffi==2.1.1',
    'charset-normalizer==3.5.2',
    'click==8.5.1',
    'cryptography==50.0.2',
    'Flask==3.1.3',
    'flask-cors==6.0.5',
    'idna==3.20',
    'itsdangerous==2.2.0',
    'Jinja2==3.1.6',
    'jmespath==1.1.0',
    'MarkupSafe==3.0.4',
    'moto==5.2.5',
    'py-partiql-parser==0.6.3',
    'pycparser==3.12',
    'python-dateutil==2.9.0.post0',
    'PyYAML==6.0.3',
    'requests==2.34.2',
    'responses==0.26.3',
    's3transfer==0.19.3',
    'six==1.17.0',
    'urllib3==2.8.0',
    'Werkzeug==3.1.9',
    'xmltodict==1.0.4',
  ],
};

/** The Python that has it. @throws Error, one line, if it cannot be installed */
export const findOrMakeMoto = (environment: Environment): string => findOrMakePython(moto, environment);
