/**
 * Makes dist/statelet.js: the whole agent in one ES module with its packages, and its source map. Commands load lazily.
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));

rmSync(`${root}dist`, { recursive: true, force: true });
const result = await build({
  absWorkingDir: root,
  stdin: {
    contents: `export { main } from './bin/main.ts';\nexport { COMMANDS } from './bin/commands/index.ts';\n`,
    resolveDir: root,
    loader: 'ts',
  },
  outfile: 'dist/statelet.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: true,
  metafile: true,
  // oclif asks for it only to compile sources, which is switched off.
  external: ['typescript'],
  logLevel: 'warning',
  // Packages in CommonJS ask for node's own modules at run time.
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);",
  },
});
const bytes = Object.values(result.metafile.outputs).find((o) => o.entryPoint)?.bytes ?? 0;
process.stdout.write(`dist/statelet.js ${Math.round(bytes / 1024)} KiB\n`);
