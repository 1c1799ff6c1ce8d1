import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { EventsService } from '../../../services/cri/proto/generated/containerd-events.ts';
import { ImageServiceService, RuntimeServiceService } from '../../../services/cri/proto/generated/cri.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface FieldDescriptor {
  name: string;
  number: number;
  label: string;
  type: string;
  typeName?: string;
  oneofIndex?: number;
  options?: { deprecated?: boolean };
}
interface EnumDescriptor {
  name: string;
  value: { name: string; number?: number }[];
}
interface MessageDescriptor {
  name: string;
  field?: FieldDescriptor[];
  nestedType?: MessageDescriptor[];
  enumType?: EnumDescriptor[];
  options?: { mapEntry?: boolean };
}
interface FileDescriptor {
  name: string;
  messageType: MessageDescriptor[];
  enumType?: EnumDescriptor[];
  service?: {
    name: string;
    method: { name: string; inputType: string; outputType: string; serverStreaming?: boolean }[];
  }[];
}

function table(name: string): Record<string, string>[] {
  const [header = '', ...lines] = readFileSync(join(ROOT, 'test/facts', name), 'utf8')
    .trimEnd()
    .split('\n');
  const columns = header.split('\t');
  return lines.map((line) => Object.fromEntries(line.split('\t').map((cell, i) => [columns[i] ?? '', cell])));
}

/** The descriptors of our .proto files, as the generator's own parser reads them. */
const image = JSON.parse(
  execFileSync(join(ROOT, 'node_modules/.bin/buf'), ['build', '-o', '-#format=json'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }),
) as { file: FileDescriptor[] };
const fileOf = (name: string) => image.file.find((file) => file.name.endsWith(name)) as FileDescriptor;
const cri = fileOf('cri.proto');

const short = (typeName: string) => typeName.replace(/^\.runtime\.v1\./, '');
const scalar = (field: FieldDescriptor) =>
  field.typeName ? short(field.typeName) : field.type.replace('TYPE_', '').toLowerCase();

function lines(message: MessageDescriptor): string[] {
  if (!message.field?.length) return [`${message.name} - none - - - no`];
  return message.field.map((field) => {
    const entry = message.nestedType?.find((m) => m.options?.mapEntry && field.typeName?.endsWith(`.${m.name}`));
    const [key, value] = entry?.field ?? [];
    const isRepeated = field.label === 'LABEL_REPEATED';
    const type = key && value ? `map<${scalar(key)},${scalar(value)}>` : scalar(field).replace(`${message.name}.`, '');
    const label = entry ? 'map' : isRepeated ? 'repeated' : 'none';
    const deprecated = field.options?.deprecated ? 'yes' : 'no';
    const oneof = field.oneofIndex === undefined ? '-' : String(field.oneofIndex);
    return [message.name, field.number, label, type, field.name, oneof, deprecated].join(' ');
  });
}

describe('our CRI protocol is the public one', () => {
  test('every field of every message: number, label, type, name, oneof, deprecation', () => {
    const expected = table('cri-v1-messages.tsv').map((row) =>
      [row.message, row.number, row.label, row.type, row.field, row.oneof, row.deprecated].join(' '),
    );
    expect(expected.length).toBeGreaterThan(400);
    expect(cri.messageType.flatMap(lines).sort()).toEqual(expected.sort());
  });

  test('every enum value', () => {
    const nested = cri.messageType.flatMap((m) =>
      (m.enumType ?? []).map((e) => ({ ...e, name: `${m.name}.${e.name}` })),
    );
    const values = [...(cri.enumType ?? []), ...nested].flatMap((e) =>
      e.value.map((v) => `${e.name} ${v.name} ${v.number ?? 0}`),
    );
    const expected = table('cri-v1-enums.tsv').map((row) => `${row.enum} ${row.value} ${row.number}`);
    expect(values.sort()).toEqual(expected.sort());
  });

  test('every method: service, request, response, streaming', () => {
    const methods = (cri.service ?? []).flatMap(({ name, method }) =>
      method.map((m) =>
        [name, m.name, short(m.inputType), short(m.outputType), m.serverStreaming ? 'server' : 'none'].join(' '),
      ),
    );
    const expected = table('cri-v1-methods.tsv').map((row) =>
      [row.service, row.rpc, row.request, row.response, row.streaming].join(' '),
    );
    expect(methods.sort()).toEqual(expected.sort());
  });

  test('the generated services name every method on the wire', () => {
    const paths = [...Object.values(RuntimeServiceService), ...Object.values(ImageServiceService)].map((m) => m.path);
    const expected = table('cri-v1-methods.tsv').map((row) => `/runtime.v1.${row.service}/${row.rpc}`);
    expect(paths.sort()).toEqual(expected.sort());
    expect(EventsService.subscribe.path).toBe('/containerd.services.events.v1.Events/Subscribe');
  });
});

test("containerd's events: number, type and name of every field that is read", () => {
  const events = fileOf('containerd-events.proto');
  const known = new Set(
    events.messageType.flatMap((message) =>
      (message.field ?? []).map((field) => {
        const repeated = field.label === 'LABEL_REPEATED' ? 'repeated ' : '';
        const type = field.typeName ? field.typeName.slice(1) : scalar(field);
        return [message.name, field.number, repeated + type, field.name].join(' ');
      }),
    ),
  );
  const expected = table('containerd-events.tsv')
    .filter((row) => row.number !== '-')
    .map((row) => [row.what?.replace('containerd.events.', ''), row.number, row.type, row.name].join(' '));
  expect([...known].sort()).toEqual(expected.sort());
});
