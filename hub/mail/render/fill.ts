import { readFileSync } from 'node:fs'

/** Values a template is filled with: text, lists, groups; null and [] leave their section out. */
export type Value = string | number | null | undefined | Value[] | { [name: string]: Value }

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'value'; name: string }
  | { kind: 'section'; name: string; inverted: boolean; nodes: Node[] }

const TAG = /\{\{\s*([#^/>]?)\s*([a-z_.]+)\s*\}\}/g
const parsed = new Map<string, Node[]>()

/** The MJML of the named template with every value escaped by `encode`. */
export function fill(template: string, values: Value, encode: (text: string) => string): string {
  return write(load(template), [values], encode)
}

function load(template: string): Node[] {
  const known = parsed.get(template)
  if (known) return known
  const nodes = parse(read(template), template)
  parsed.set(template, nodes)
  return nodes
}

function read(template: string): string {
  const source = readFileSync(new URL(`templates/${template}.mjml`, import.meta.url), 'utf8')
  return source.replace(/\{\{>([a-z_]+)\}\}/g, (_, name: string) => read(name))
}

function parse(source: string, template: string): Node[] {
  const stack: { name: string; nodes: Node[] }[] = [{ name: '', nodes: [] }]
  let at = 0
  for (const match of source.matchAll(TAG)) {
    const [tag, sigil, name = ''] = match
    const top = stack.at(-1)
    if (!top) break
    top.nodes.push({ kind: 'text', text: source.slice(at, match.index) })
    at = match.index + tag.length
    if (sigil === '#' || sigil === '^') {
      const nodes: Node[] = []
      top.nodes.push({ kind: 'section', name, inverted: sigil === '^', nodes })
      stack.push({ name, nodes })
      continue
    }
    if (sigil === '/') {
      if (stack.pop()?.name !== name) throw new Error(`${template}.mjml: {{/${name}}} was not open`)
      continue
    }
    top.nodes.push({ kind: 'value', name })
  }
  const root = stack.pop()
  if (!root || stack.length) throw new Error(`${template}.mjml: {{#${root?.name}}} is not closed`)
  root.nodes.push({ kind: 'text', text: source.slice(at) })
  return root.nodes
}

function write(nodes: Node[], scopes: Value[], encode: (text: string) => string): string {
  return nodes
    .map((node) => {
      if (node.kind === 'text') return node.text
      const value = find(node.name, scopes)
      if (node.kind === 'value') {
        if (typeof value === 'string' || typeof value === 'number') return encode(String(value))
        throw new Error(`The template's {{${node.name}}} has no text`)
      }
      const items = Array.isArray(value) ? value : value ? [value] : []
      if (node.inverted) return items.length ? '' : write(node.nodes, scopes, encode)
      return items.map((item) => write(node.nodes, [...scopes, item], encode)).join('')
    })
    .join('')
}

/** `.` is the item itself; `a.b` is looked up from the innermost scope that knows `a`. */
function find(path: string, scopes: Value[]): Value {
  if (path === '.') return scopes.at(-1)
  const [first = '', ...rest] = path.split('.')
  const scope = scopes.findLast((each) => isGroup(each) && Object.hasOwn(each, first))
  let value: Value = isGroup(scope) ? scope[first] : undefined
  for (const name of rest) value = isGroup(value) ? value[name] : undefined
  return value
}

function isGroup(value: Value): value is { [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
