import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { ifThere } from '../host/effect.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
};

/** A name of a file of the page; no `..`, no hidden file. */
const NAME = /^\/(?:assets\/)?[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

const NOTE = 'The inspector runs, but its page is not built: npm run build makes it. Its socket is /ws.\n';

/** Nothing from elsewhere, nothing inline, in no frame, and the address with its token goes nowhere. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "font-src 'self'; worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Ends a response with its security headers. */
export function answer(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** The files of the built page; the first of the folders that has an index.html. */
export class PageFiles {
  readonly #folders: readonly string[];

  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  async serve(path: string, response: ServerResponse): Promise<void> {
    const name = path === '/' ? '/index.html' : path;
    const type = TYPES[extname(name)];
    const body = type && NAME.test(name) ? await this.#read(name) : undefined;
    if (body && type) answer(response, 200, type, body);
    else if (path === '/') answer(response, 200, 'text/plain; charset=utf-8', NOTE);
    else answer(response, 404, 'text/plain; charset=utf-8', '404 page not found\n');
  }

  async #read(name: string): Promise<Buffer | undefined> {
    for (const folder of this.#folders) {
      const body = await ifThere(readFile(join(folder, name)));
      if (body) return body;
    }
    return undefined;
  }
}
