/** What a Go template is executed with: the few fields and functions listmonk's templates know. */
export type GoContext = {
  fields: Record<string, unknown>
  functions: Record<string, (argument?: unknown) => unknown>
  /** What `.` is inside a `with`. */
  dot?: unknown
}

/** A value that html/template writes without escaping. */
export class SafeHtml {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}

/**
 * Executes a template as listmonk does: text as it is, `html` with values escaped and comments
 * dropped. What listmonk's parser would not take is an Error in its words.
 */
export function execute(source: string, context: GoContext, kind: 'text' | 'html'): string {
  const prepared = source.replace(
    /(https?:\/\/[\p{L}\p{N}_\-.~!#$&'()*+,/:;=?@[\]%]*)@TrackLink/gu,
    (_, url: string) => `{{ TrackLink "${url}" }}`,
  )
  const open = /<(script|style|textarea|title)\b(?![\s\S]*<\/\1>)/i.exec(prepared)?.[1]
  if (kind === 'html' && open) throw new Error(`ends in a non-text context: <${open}>`)
  let written = ''
  /** The values of the `with` around; in an empty one nothing is written, but what stands after `else`. */
  const scopes: unknown[] = []
  for (const part of actions(prepared)) {
    const [head, argument = ''] = part.words ?? []
    if (head === 'end') {
      scopes.pop()
      continue
    }
    if (head === 'with') {
      scopes.push(field(argument, context))
      continue
    }
    if (head === 'else') {
      scopes.push(!scopes.pop())
      continue
    }
    if (scopes.some((scope) => !scope)) continue
    if (part.text !== undefined) {
      written += kind === 'html' ? staticHtml(part.text) : part.text
      continue
    }
    written += shown(evaluate(part.words, { ...context, dot: scopes.at(-1) }), kind)
  }
  return written
}

function shown(value: unknown, kind: 'text' | 'html'): string {
  if (value instanceof SafeHtml) return value.html
  const text = value === undefined || value === null ? '' : String(value)
  return kind === 'html' ? text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char) : text
}

/** html/template drops comments and escapes a `<` that begins no tag. */
function staticHtml(text: string): string {
  return text.replace(/<!--[\s\S]*?-->/g, '').replace(/<(?![A-Za-z/!])/g, '&lt;')
}

type Part = { text: string; words?: never } | { text?: never; words: string[] }

/** Text and actions in turn; a `}}` inside a quoted string does not end its action. */
function actions(source: string): Part[] {
  const parts: Part[] = []
  let at = 0
  for (;;) {
    const open = source.indexOf('{{', at)
    if (open < 0) break
    parts.push({ text: source.slice(at, open) })
    const words: string[] = []
    let rest = source.slice(open + 2)
    for (;;) {
      rest = rest.trimStart()
      if (rest.startsWith('}}')) break
      const word = /^(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|[.A-Za-z_][\w.]*)/.exec(rest)?.[0]
      if (!word) throw new Error(`unexpected ${JSON.stringify(rest.slice(0, 1))} in command`)
      words.push(word)
      rest = rest.slice(word.length)
    }
    parts.push({ words })
    at = source.length - rest.length + 2
  }
  parts.push({ text: source.slice(at) })
  return parts
}

function evaluate([head = '', ...rest]: string[], context: GoContext): unknown {
  if (head.startsWith('"')) return JSON.parse(head)
  if (head === '.') return context.dot
  if (head.startsWith('.')) return field(head, context)
  const call = context.functions[head]
  if (!head) throw new Error('missing value for command')
  if (!call) throw new Error(`function "${head}" not defined`)
  const [argument] = rest
  if (argument === undefined) return call()
  if (argument === '.') return call(context.dot)
  return call(argument.startsWith('"') ? JSON.parse(argument) : field(argument, context))
}

function field(path: string, context: GoContext): unknown {
  let value: unknown = context.fields
  for (const name of path.split('.').filter(Boolean)) {
    if (path.startsWith('.Subscriber.Attribs.') && name === path.split('.').at(-1)) {
      return typeof value === 'object' && value ? Reflect.get(value, name) : undefined
    }
    if (typeof value !== 'object' || value === null || !(name in value)) {
      throw new Error(`can't evaluate field ${name}`)
    }
    value = Reflect.get(value, name)
  }
  return value
}
