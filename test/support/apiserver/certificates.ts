import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const DAYS = '365';

/** PEM texts. */
export interface KeyPair {
  certificate: string;
  key: string;
}

/** A certificate authority in a folder (`ca.crt`, `ca.key`), run by the `openssl` program. */
export class Authority {
  readonly directory: string;
  #ca = '';

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Takes the authority that is in the folder, or makes one. */
  static async open(directory: string): Promise<Authority> {
    const authority = new Authority(directory);
    const existing = await readFile(join(directory, 'ca.crt'), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (existing === undefined)
      await authority.#openssl([
        'req',
        '-x509',
        ...EC,
        '-keyout',
        'ca.key',
        '-out',
        'ca.crt',
        '-days',
        '3650',
        '-subj',
        '/CN=test-ca',
        '-addext',
        'keyUsage=critical,keyCertSign,digitalSignature',
      ]);
    authority.#ca = await readFile(join(directory, 'ca.crt'), 'utf8');
    return authority;
  }

  get certificate(): string {
    return this.#ca;
  }

  /** A new key and a certificate for it, signed by this authority, kept as `<name>.crt` and `<name>.key`. */
  async issue(name: string, subject: string, extensions: readonly string[]): Promise<KeyPair> {
    const added = extensions.flatMap((extension) => ['-addext', extension]);
    await this.#openssl([
      'req',
      '-x509',
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      ...EC,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-days',
      DAYS,
      '-subj',
      subject,
      '-addext',
      'basicConstraints=critical,CA:FALSE',
      ...added,
    ]);
    const [certificate, key] = await Promise.all(
      ['crt', 'key'].map((end) => readFile(join(this.directory, `${name}.${end}`), 'utf8')),
    );
    return { certificate: certificate ?? '', key: key ?? '' };
  }

  client(name: string, user: string, groups: readonly string[]): Promise<KeyPair> {
    const subject = `${groups.map((group) => `/O=${group}`).join('')}/CN=${user}`;
    return this.issue(name, subject, ['extendedKeyUsage=clientAuth', 'keyUsage=critical,digitalSignature']);
  }

  server(name: string, addresses: readonly string[]): Promise<KeyPair> {
    const alternatives = addresses.map((a) => (/^[\d.]+$|:/.test(a) ? `IP:${a}` : `DNS:${a}`)).join(',');
    return this.issue(name, `/CN=${name}`, [
      `subjectAltName=${alternatives}`,
      'extendedKeyUsage=serverAuth',
      'keyUsage=critical,digitalSignature',
    ]);
  }

  /** Signs a PEM certificate request; its subject and alternative names are taken as they are. */
  async sign(request: string, usage: 'clientAuth' | 'serverAuth', seconds: number): Promise<string> {
    const file = join(this.directory, `request-${process.hrtime.bigint()}`);
    await writeFile(`${file}.csr`, request);
    await writeFile(
      `${file}.ext`,
      `extendedKeyUsage=${usage}\nkeyUsage=critical,digitalSignature\nbasicConstraints=critical,CA:FALSE\n`,
    );
    const days = String(Math.max(1, Math.ceil(seconds / 86_400)));
    const { stdout } = await this.#openssl([
      'x509',
      '-req',
      '-in',
      `${file}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-days',
      days,
      '-extfile',
      `${file}.ext`,
      '-copy_extensions',
      'copy',
    ]);
    return stdout;
  }

  #openssl(args: readonly string[]) {
    return run('openssl', [...args], { cwd: this.directory });
  }
}
