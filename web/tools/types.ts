// Writes src/api/generated.ts from docs/formats/api.yaml: one TypeScript type a schema.
//
// The contract is the YAML; the types are made from it before each build and are not committed,
// so the page can't drift from the server unnoticed. "What is not known is absent or null" (the
// contract's words), hence `?: T | null` for every member that is not required.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number)[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly additionalProperties?: Schema;
  readonly description?: string;
}

type Schemas = Readonly<Record<string, Schema>>;

const nameOf = (reference: string): string => reference.split('/').at(-1) ?? 'unknown';

// `allOf: [Page, {properties: {items}}]`: what one part requires, all parts give.
function together(parts: readonly Schema[], schemas: Schemas, indent: string): string {
  const required = parts.flatMap(
    (part) =>
      (part.$ref === undefined ? part : (schemas[nameOf(part.$ref)] ?? part)).required ?? [],
  );
  return parts.map((part) => typeOf({ ...part, required }, schemas, indent)).join(' & ');
}

export function typeOf(schema: Schema, schemas: Schemas = {}, indent = ''): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.allOf !== undefined) return together(schema.allOf, schemas, indent);
  if (schema.enum !== undefined) return schema.enum.map((v) => JSON.stringify(v)).join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type
      .map((type: string) => typeOf({ ...schema, type }, schemas, indent))
      .join(' | ');
  }
  if (schema.prefixItems !== undefined) {
    return `readonly [${schema.prefixItems.map((s) => typeOf(s, schemas, indent)).join(', ')}]`;
  }
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `readonly (${typeOf(schema.items ?? {}, schemas, indent)})[]`;
  }
  if (schema.additionalProperties !== undefined) {
    return `Readonly<Record<string, ${typeOf(schema.additionalProperties, schemas, indent)}>>`;
  }
  if (schema.properties === undefined) return schema.type === 'object' ? 'JsonObject' : 'unknown';
  const required = new Set(schema.required ?? []);
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const type = typeOf(member, schemas, inner);
    const told =
      member.description === undefined
        ? ''
        : `${inner}// ${member.description.trim().replaceAll('\n', `\n${inner}// `)}\n`;
    return (
      told +
      (required.has(name)
        ? `${inner}readonly ${name}: ${type};`
        : `${inner}readonly ${name}?: ${type} | null;`)
    );
  });
  return `{\n${members.join('\n')}\n${indent}}`;
}

export function generate(yaml: string): string {
  const document = parse(yaml) as { components: { schemas: Record<string, Schema> } };
  const head =
    '// Made from docs/formats/api.yaml by tools/types.ts; do not edit.\n\n' +
    'export interface JsonObject { readonly [name: string]: unknown }\n\n';
  return (
    head +
    Object.entries(document.components.schemas)
      .map(
        ([name, schema]) =>
          `export type ${name} = ${typeOf(schema, document.components.schemas)};\n`,
      )
      .join('\n')
  );
}

export function writeTypes(): void {
  const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  writeFileSync(
    at('../src/api/generated.ts'),
    generate(readFileSync(at('../../docs/formats/api.yaml'), 'utf8')),
  );
}
