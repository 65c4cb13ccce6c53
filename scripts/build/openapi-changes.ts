/**
 * Finds the changes between two OpenAPI documents that break clients. We have our own, because the
 * tools on npm support at best OpenAPI 3.0, or call a removed field a patch.
 */

type Json = { readonly [key: string]: unknown }

const METHODS = ['get', 'post', 'patch', 'put', 'delete']

/** `breakingChanges` lists, one sentence each, what the clients of `before` lose in `after`. */
export function breakingChanges(before: unknown, after: unknown): string[] {
  const found = new Set<string>()
  const report = (where: string, what: string) => found.add(`${where}: ${what}`)
  const sides: Sides = { before: asJson(before), after: asJson(after), report }
  const later = asJson(sides.after.paths)
  for (const [path, item] of entries(sides.before.paths)) {
    if (!(path in later)) {
      report(path, 'the address is gone')
      continue
    }
    for (const method of METHODS.filter((name) => name in item)) {
      const where = `${method.toUpperCase()} ${path}`
      const now = asJson(asJson(later[path])[method])
      if (Object.keys(now).length === 0) report(where, 'the method is gone')
      else compareOperation(sides, where, asJson(item[method]), now)
    }
  }
  return [...found]
}

type Sides = { before: Json; after: Json; report: (where: string, what: string) => void }
type Direction = 'request' | 'response'

function compareOperation(sides: Sides, where: string, before: Json, after: Json): void {
  const { report } = sides
  const [was, is] = [parameters(sides.before, before), parameters(sides.after, after)]
  for (const [name, parameter] of was) {
    const now = is.get(name)
    if (!now) report(where, `the parameter ${name} is gone`)
    else compareSchema(sides, `${where} ${name}`, 'request', [parameter.schema, now.schema])
  }
  for (const [name, { required }] of is) {
    if (required && was.get(name)?.required !== true) report(where, `${name} is required now`)
  }
  const [hadBody, hasBody] = [asJson(before.requestBody), asJson(after.requestBody)]
  if (hasBody.required && !hadBody.required) report(where, 'a body is required now')
  compareContent(sides, `${where} body`, 'request', [hadBody, hasBody])
  const later = asJson(after.responses)
  for (const [status, response] of entries(before.responses)) {
    if (!(status in later)) {
      if (status.startsWith('2')) report(where, `it no longer answers ${status}`)
      continue
    }
    const pair = [
      resolve(sides.before, response),
      resolve(sides.after, asJson(later[status])),
    ] as const
    compareContent(sides, `${where} ${status}`, 'response', pair)
  }
}

function compareContent(
  sides: Sides,
  where: string,
  direction: Direction,
  [before, after]: readonly [Json, Json],
): void {
  const later = asJson(after.content)
  for (const [type, media] of entries(before.content)) {
    if (!(type in later)) sides.report(where, `${type} is gone`)
    else compareSchema(sides, where, direction, [media.schema, asJson(later[type]).schema])
  }
}

function compareSchema(
  sides: Sides,
  where: string,
  direction: Direction,
  [given, now]: readonly [unknown, unknown],
): void {
  const { report } = sides
  const before = resolve(sides.before, asJson(given))
  const after = resolve(sides.after, asJson(now))
  const [had, has] = [asJson(before.properties), asJson(after.properties)]
  for (const [name, schema] of entries(had)) {
    if (!(name in has)) report(where, `the field ${name} is gone`)
    else compareSchema(sides, `${where} ${name}`, direction, [schema, has[name]])
  }
  const [must, mustNow] = [names(before.required), names(after.required)]
  const changed =
    direction === 'request'
      ? mustNow.filter((name) => !must.includes(name)).map((name) => `${name} is required now`)
      : must
          .filter((name) => name in has && !mustNow.includes(name))
          .map((name) => `${name} may be missing now`)
  for (const what of changed) report(where, what)
  for (const value of names(before.enum)) {
    if ('enum' in after && !names(after.enum).includes(value))
      report(where, `the value ${value} is gone`)
  }
  compareTypes(sides, where, direction, [types(before), types(after)])
  if (before.items) compareSchema(sides, where, direction, [before.items, after.items])
  for (const key of ['oneOf', 'anyOf', 'allOf']) {
    const [was, is] = [list(before[key]), list(after[key])]
    for (const [index, part] of was.entries()) {
      const twin = is.find((other) => nameOf(other) === nameOf(part)) ?? is[index]
      if (twin) compareSchema(sides, where, direction, [part, twin])
      else report(where, `an alternative is gone (${nameOf(part)})`)
    }
  }
}

/** A request may accept more types than before, a response may have fewer. */
function compareTypes(
  { report }: Sides,
  where: string,
  direction: Direction,
  [before, after]: readonly [string[], string[]],
): void {
  if (before.length === 0 || after.length === 0) return
  const [old, young] = direction === 'request' ? [before, after] : [after, before]
  // Every integer is a number.
  const isIn = (type: string) =>
    young.includes(type) || (type === 'integer' && young.includes('number'))
  if (!old.every(isIn))
    report(where, `its type was ${before.join(' or ')}, is ${after.join(' or ')}`)
}

function parameters(document: Json, operation: Json): Map<string, Json> {
  const all = list(operation.parameters).map((parameter) => resolve(document, parameter))
  return new Map(all.map((parameter) => [`${parameter.in} parameter ${parameter.name}`, parameter]))
}

function resolve(document: Json, value: Json): Json {
  if (typeof value.$ref !== 'string') return value
  const path = value.$ref.replace(/^#\//, '').split('/')
  return path.reduce((part, key) => asJson(part[key]), document)
}

const nameOf = (schema: Json) =>
  typeof schema.$ref === 'string' ? schema.$ref : JSON.stringify(schema)
const types = ({ type }: Json) => (typeof type === 'string' ? [type] : names(type))
const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(asJson) : [])
const entries = (value: unknown): [string, Json][] =>
  Object.entries(asJson(value)).map(([key, inner]) => [key, asJson(inner)])

function asJson(value: unknown): Json {
  // safe: every key of an object is a string, and its values stay unknown
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
