import { z } from 'zod'

/** A JSON schema, as far as the hub uses it. */
export type Schema = { [keyword: string]: unknown }

/** llama.cpp refuses a grammar that repeats anything 2,000 times or more. */
const GRAMMAR_REPETITIONS = 1999

/**
 * The longest answer, in characters, that a schema may ask for. No context of ours could hold a
 * longer one.
 */
const LONGEST = 32_000

/**
 * jsonSchemaOf turns a zod schema into the JSON schema of an answer. Every string needs a maxLength
 * and every array a maxItems, because the budget of a call is computed from them. Every property is
 * required (`nullable` instead of `optional`), because a grammar has no optional ones.
 */
export function jsonSchemaOf(type: z.ZodType): { schema: Schema; longest: number } {
  // safe: z.toJSONSchema returns a JSON schema
  const schema = z.toJSONSchema(type, { io: 'input', cycles: 'throw', reused: 'inline' }) as Schema
  delete schema.$schema
  if (schema.type !== 'object') throw new Error('The schema of an answer has to be an object.')
  const longest = limit(schema, '')
  if (longest > LONGEST) {
    throw new Error(
      `The schema allows an answer of ${longest} characters, more than ${LONGEST}: ask in smaller steps.`,
    )
  }
  return { schema, longest }
}

/**
 * Checks the limits below `schema`, closes its objects, and returns the length of its longest text.
 */
function limit(schema: Schema, path: string): number {
  const at = path === '' ? 'the answer' : path
  if (schema.const !== undefined) return JSON.stringify(schema.const).length
  if (Array.isArray(schema.enum)) {
    return Math.max(...schema.enum.map((value) => JSON.stringify(value).length))
  }
  const options = schema.anyOf ?? schema.oneOf
  if (Array.isArray(options)) return Math.max(...options.map((option) => limit(option, path)))
  switch (schema.type) {
    case 'string':
      if (isDate(schema.format)) return 32
      if (typeof schema.maxLength !== 'number') throw new Error(`${at}: a string needs .max()`)
      return schema.maxLength + 2
    case 'array': {
      if (typeof schema.maxItems !== 'number') throw new Error(`${at}: an array needs .max()`)
      // safe: the items of a JSON schema are a JSON schema
      const items = schema.items as Schema | undefined
      if (!items) throw new Error(`${at}: an array needs one kind of items`)
      return schema.maxItems * (limit(items, `${path}[]`) + 2) + 2
    }
    case 'object': {
      // safe: the properties of a JSON schema are JSON schemas
      const properties = (schema.properties ?? {}) as Record<string, Schema>
      const names = Object.keys(properties)
      const required = new Set(Array.isArray(schema.required) ? schema.required : [])
      if (names.length === 0) throw new Error(`${at}: an object needs named properties`)
      schema.additionalProperties = false
      return names.reduce((sum, name) => {
        const inner = path === '' ? name : `${path}.${name}`
        if (!required.has(name)) throw new Error(`${inner}: use .nullable(), not .optional()`)
        return sum + name.length + 6 + limit(properties[name] ?? {}, inner)
      }, 2)
    }
    case 'number':
    case 'integer':
      return 20
    case 'boolean':
    case 'null':
      return 5
    default:
      throw new Error(`${at}: only text, numbers, booleans, objects, arrays and choices of these`)
  }
}

function isDate(format: unknown): boolean {
  return format === 'date' || format === 'time' || format === 'date-time'
}

/**
 * grammarSchema keeps what node-llama-cpp's grammars support: type, const, enum, oneOf, properties,
 * items, minItems, maxItems, minLength, maxLength and the formats of dates. Choices become oneOf.
 * Pattern, minimum, maximum and other formats are left to zod.
 */
export function grammarSchema(schema: Schema): Schema {
  if (schema.const !== undefined) return { const: schema.const }
  if (Array.isArray(schema.enum)) return { enum: schema.enum }
  const options = schema.anyOf ?? schema.oneOf
  if (Array.isArray(options)) return { oneOf: options.map(grammarSchema) }
  switch (schema.type) {
    case 'string': {
      if (isDate(schema.format)) return { type: 'string', format: schema.format }
      const { minLength, maxLength } = schema
      return { type: 'string', ...repetitions('minLength', minLength, 'maxLength', maxLength) }
    }
    case 'array': {
      const { minItems, maxItems } = schema
      // safe: the items of a JSON schema are a JSON schema
      const items = schema.items ? { items: grammarSchema(schema.items as Schema) } : {}
      return { type: 'array', ...items, ...repetitions('minItems', minItems, 'maxItems', maxItems) }
    }
    case 'object': {
      // safe: the properties of a JSON schema are JSON schemas
      const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
      return {
        type: 'object',
        properties: Object.fromEntries(
          properties.map(([name, value]) => [name, grammarSchema(value)]),
        ),
      }
    }
    default:
      return { type: schema.type }
  }
}

function repetitions(least: string, min: unknown, most: string, max: unknown): Schema {
  return {
    ...(typeof min === 'number' ? { [least]: Math.min(min, GRAMMAR_REPETITIONS) } : {}),
    ...(typeof max === 'number' ? { [most]: Math.min(max, GRAMMAR_REPETITIONS) } : {}),
  }
}

/**
 * The schema as a prompt shows it: short, with the limits and descriptions that a model should
 * know.
 */
export function outline(schema: Schema, indent = ''): string {
  const note = typeof schema.description === 'string' ? ` // ${schema.description}` : ''
  if (schema.const !== undefined) return JSON.stringify(schema.const) + note
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => JSON.stringify(value)).join(' | ') + note
  }
  const options = schema.anyOf ?? schema.oneOf
  if (Array.isArray(options)) {
    return options.map((option) => outline(option, indent)).join(' | ') + note
  }
  switch (schema.type) {
    case 'string':
      if (isDate(schema.format)) return `${schema.format}${note}`
      return `string of at most ${schema.maxLength} characters${note}`
    case 'array':
      // safe: limit() has refused arrays without items
      return `[at most ${schema.maxItems} of: ${outline(schema.items as Schema, indent)}]${note}`
    case 'object': {
      // safe: the properties of a JSON schema are JSON schemas
      const properties = Object.entries(schema.properties as Record<string, Schema>)
      const lines = properties.map(
        ([name, value]) => `${indent}  ${JSON.stringify(name)}: ${outline(value, `${indent}  `)}`,
      )
      return `{${note}\n${lines.join('\n')}\n${indent}}`
    }
    default:
      return `${schema.type}${note}`
  }
}
