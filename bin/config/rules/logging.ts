import { durationMs } from '../duration.ts';
import { quantityOf } from '../decode.ts';
import type { Rule } from './rule.types.ts';

/** component-base/logs/api/v1/options.go:Validate. */
export const logging: Rule = ({ config: { logging }, gate }, fail) => {
  if (durationMs(logging.flushFrequency) <= 0)
    fail('logging.flushFrequency', `${logging.flushFrequency} is out of range: accepted is more than 0s`);
  if (logging.vmodule?.length && logging.format !== 'text')
    fail('logging.vmodule', `is not accepted with format ${logging.format}: accepted is format text`);
  logging.vmodule?.forEach(({ filePattern = '', verbosity = 0 }, i) => {
    const path = `logging.vmodule[${i}]`;
    if (!filePattern) fail(`${path}.filePattern`, 'is empty: accepted is a file name or pattern');
    if (/[=,]/.test(filePattern)) fail(`${path}.filePattern`, 'holds "=" or ",": accepted is a pattern without them');
    if (verbosity > 2147483647) fail(`${path}.verbosity`, `${verbosity} is out of range: accepted are 0 to 2147483647`);
  });
  if (gate('LoggingAlphaOptions')) return;
  for (const format of ['text', 'json'] as const) {
    const options = logging.options[format];
    const path = `logging.options.${format}`;
    if (options.splitStream) fail(`${path}.splitStream`, 'true needs feature gate LoggingAlphaOptions');
    if (quantityOf(options.infoBufferSize) !== 0n)
      fail(`${path}.infoBufferSize`, `${options.infoBufferSize} needs feature gate LoggingAlphaOptions: accepted is 0`);
  }
};
