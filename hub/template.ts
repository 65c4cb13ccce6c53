import Mustache from 'mustache'

/** Values a template is filled with: text, lists, groups; null and [] leave their section out. */
export type Value = string | number | null | undefined | Value[] | { [name: string]: Value }

type Options = {
  /** Makes a value fit for where it stands, e.g. HTML. */
  encode: (text: string) => string
  /** The source of what a template names with `{{>name}}`. */
  partial?: (name: string) => string
}

/** Nothing goes around the encoding, `{{{name}}}` neither, and a value that is missing is an error. */
class StrictWriter extends Mustache.Writer {
  readonly encode: Options['encode']

  constructor(encode: Options['encode']) {
    super()
    this.encode = encode
  }

  override escapedValue([, name = '']: string[], context: Mustache.Context): string {
    const value: unknown = context.lookup(name)
    if (typeof value === 'string' || typeof value === 'number') return this.encode(String(value))
    throw new Error(`The template's {{${name}}} has no text`)
  }

  override unescapedValue(token: string[], context: Mustache.Context): string {
    return this.escapedValue(token, context)
  }
}

/** fillTemplate puts values into a Mustache template; sections may be missing, text may not. */
export function fillTemplate(
  source: string,
  values: { [name: string]: Value },
  { encode, partial }: Options,
): string {
  return new StrictWriter(encode).render(source, values, partial)
}

/** namesIn lists what a template asks for, each name once; it throws on one that cannot be read. */
export function namesIn(source: string): string[] {
  const names = (tokens: Tokens): string[] =>
    tokens.flatMap(([kind, name, , , inner]) => {
      if (kind === 'text' || kind === '!') return []
      return [name, ...(Array.isArray(inner) ? names(inner) : [])]
    })
  return [...new Set(names(Mustache.parse(source)))].sort()
}

type Tokens = ReturnType<typeof Mustache.parse>
