import Mustache from 'mustache'

/** The values that fill a template: text, lists, groups. A section is left out for null and []. */
export type Value = string | number | null | undefined | Value[] | { [name: string]: Value }

type Options = {
  /** Makes a value safe for its context, such as HTML. */
  encode: (text: string) => string
  /** The source of a partial that a template names with `{{>name}}`. */
  partial?: (name: string) => string
}

/** Encodes every value, even `{{{name}}}`, and throws on a value that is missing. */
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

/** fillTemplate puts values into a Mustache template. Sections may be missing, text may not. */
export function fillTemplate(
  source: string,
  values: { [name: string]: Value },
  { encode, partial }: Options,
): string {
  return new StrictWriter(encode).render(source, values, partial)
}

/**
 * namesIn lists the names that a template uses, each once. It throws on a template that cannot be
 * parsed.
 */
export function namesIn(source: string): string[] {
  const names = (tokens: Tokens): string[] =>
    tokens.flatMap(([kind, name, , , inner]) => {
      if (kind === 'text' || kind === '!') return []
      return [name, ...(Array.isArray(inner) ? names(inner) : [])]
    })
  return [...new Set(names(Mustache.parse(source)))].sort()
}

type Tokens = ReturnType<typeof Mustache.parse>
