/** A field of KubeletConfiguration as the table has it. */
export interface FieldRow {
  /** `authentication.x509.clientCAFile`; `[]` stands for a list's item: `registerWithTaints[].key`. */
  path: string;
  /** Go's word: string, bool, int32, duration, enum(A|B), map[string]string, []object … */
  type: string;
  /** A pointer in Go: an explicit zero is a value there. Elsewhere zero means "not set" and the default takes its place. */
  nullable: boolean;
  default?: unknown;
  flag?: string;
  deprecated?: boolean;
}

/** A flag of the kubelet's command line. */
export interface FlagRow {
  name: string;
  type: string;
  default?: unknown;
  /** The value of a flag that stands there without one. */
  bare?: string;
  shorthand?: string;
  deprecated?: boolean;
  /** The field that it sets; undefined for flags with no field. */
  field?: string;
  group: string;
}

export interface GateRow {
  name: string;
  stage: string;
  default: boolean;
  locked?: boolean;
  dependsOn?: readonly string[];
  /** The kubelet, or a library within it, asks for this gate. */
  kubelet?: boolean;
}
