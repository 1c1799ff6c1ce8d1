/**
 * Makes dist/statelet.js, or that file in the folder given: the whole agent in one ES module with its packages, and its source
 * map. Commands load lazily. Beside it in inspect/ lies the inspector's page, and in node_modules/ what cannot be bundled.
 */
import { cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { buildPage } from './build-page.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = resolve(process.argv[2] ?? `${root}dist`);

/**
 * Takes Node's own modules with require, at the place that needs them. As static imports all of them would be loaded at
 * start, and an import of node:http, unlike a require, also loads its WebSocket client (25 ms).
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup(plugin) {
    plugin.onResolve({ filter: /.*/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined;
      return kind === 'require-call' ? { path, external: true } : { path, namespace: 'builtin' };
    });
    plugin.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * koffi is machine code for one platform, which no bundle can hold: what of it is loaded goes beside the bundle, where Node
 * finds it. Without it, as for a platform that koffi does not know, the agent runs mount(8).
 */
function copyKoffi(): void {
  const platform = `@koromix/koffi-${process.platform}-${process.arch}`;
  if (!existsSync(`${root}node_modules/${platform}`)) return;
  const isLoaded = (path: string) =>
    !/\/(doc|vendor|lib)$|\/cnoke\.cjs$/.test(path) &&
    (statSync(path).isDirectory() || /\.(c?js|json|node|txt)$/.test(path));
  for (const name of ['koffi', platform])
    cpSync(`${root}node_modules/${name}`, `${folder}/node_modules/${name}`, { recursive: true, filter: isLoaded });
}

/** One character beyond ASCII would have V8 keep the whole bundle as two-byte text: twice the memory, 40 ms more at start. */
const beyondAscii = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
/** esbuild escapes what stands in strings, and leaves regular expressions as they are. */
const asciiPatterns: Plugin = {
  name: 'ascii-patterns',
  setup(plugin) {
    plugin.onLoad({ filter: /node_modules\/ansis\/.*\.c?js$|\/duration\.ts$/ }, ({ path }) => ({
      contents: beyondAscii(readFileSync(path, 'utf8')),
      loader: path.endsWith('.ts') ? 'ts' : 'js',
    }));
  },
};

rmSync(folder, { recursive: true, force: true });
const result = await build({
  absWorkingDir: root,
  stdin: {
    contents: `export { main } from './bin/main.ts';\nexport { COMMANDS } from './bin/commands/index.ts';\n`,
    resolveDir: root,
    loader: 'ts',
  },
  outfile: `${folder}/statelet.js`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  sourcemap: true,
  sourcesContent: false,
  // Names stay, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  // Asked for by oclif to compile sources and by grpc-js for channelz; neither is switched on. koffi: see copyKoffi.
  external: ['typescript', '@grpc/proto-loader', 'koffi'],
  plugins: [lazyBuiltins, asciiPatterns],
  logLevel: 'warning',
  // Packages in CommonJS ask for node's own modules at run time.
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);",
  },
});
copyKoffi();
const found = /.{0,40}[\u0080-\uffff].{0,40}/.exec(readFileSync(`${folder}/statelet.js`, 'utf8'))?.[0];
if (found !== undefined) throw new Error(`statelet.js is not ASCII, see beyondAscii: ${found}`);
const bytes = Object.values(result.metafile.outputs).find((o) => o.entryPoint)?.bytes ?? 0;
process.stdout.write(`${folder}/statelet.js ${Math.round(bytes / 1024)} KiB\n`);
await buildPage(`${folder}/inspect`);
