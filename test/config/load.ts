import { loadConfig, type ConfigFiles, type LoadedConfig } from '../../bin/config/load-config.ts';
import { ConfigError } from '../../bin/config/problem.ts';

export const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** Loads with files that exist in memory only: text by path. */
export function load(argv: string[], texts: Record<string, string | Uint8Array> = {}): LoadedConfig {
  const files: ConfigFiles = {
    readFile: (path) => {
      const text = texts[path];
      if (text === undefined)
        throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' });
      return typeof text === 'string' ? new TextEncoder().encode(text) : text;
    },
    listFolder: (folder) => Object.keys(texts).filter((path) => path.startsWith(`${folder}/`)),
  };
  return loadConfig({ argv, files });
}

/** `/k.yaml` with the fields, beside the flags. */
export function loadFields(fields: object, argv: string[] = []): LoadedConfig {
  const text = JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...fields,
  });
  return load(['--config=/k.yaml', ...argv], { '/k.yaml': text });
}

/** The lines of the error that loading ends with; none where it succeeds. */
export function problems(run: () => unknown): string[] {
  try {
    run();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}
