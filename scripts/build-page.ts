import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chartStyle } from '../services/charts/svg.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = at('../services/inspect/page/');
const PICTURES = at('../docs/statecharts/');

/**
 * Makes the inspector's page in the folder, which is emptied first: scripts, styles and the layout's worker, all served by the
 * agent.
 */
export async function buildPage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: ['main.tsx', 'page.css'].map((file) => ({ in: PAGE + file, out: 'page' })),
    outdir: folder,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'inline',
    logLevel: 'warning',
  });
  for (const file of ['index.html', 'favicon.svg']) copyFileSync(PAGE + file, `${folder}/${file}`);
  // Laid out already; what has changed since is laid out in the browser.
  for (const file of readdirSync(PICTURES))
    if (file.endsWith('.svg')) copyFileSync(PICTURES + file, `${folder}/${file}`);
  // The page's policy allows no style in the picture itself.
  writeFileSync(`${folder}/page.css`, readFileSync(`${folder}/page.css`, 'utf8') + chartStyle);
  copyFileSync(createRequire(import.meta.url).resolve('elkjs/lib/elk-worker.min.js'), `${folder}/elk-worker.js`);
}
