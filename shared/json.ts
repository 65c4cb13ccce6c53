import { invalid } from './problem.ts'

/** The most values in a body: enough for a polygon of 10,000 vertices in many rings. */
const MAX_VALUES = 60_000
/** The deepest nesting of lists and objects; a polygon in a batch of MCP calls needs ten levels. */
const MAX_DEPTH = 32
const MAX_TEXT_CHARACTERS = 64 * 1024

/**
 * Throws 422 for JSON that would be expensive to parse or validate: nested too deep, with too many values,
 * or with too long a string. A single pass without recursion, before anything is parsed.
 */
export function requireBoundedJson(text: string): void {
  let depth = 0
  let values = 0
  let field = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(text, at)
      if (depth === 1 && isKey(text, end)) field = text.slice(at + 1, Math.min(end, at + 65))
      if (end - at > MAX_TEXT_CHARACTERS) {
        throw refusal(field, 'text_too_long', `a text of over ${MAX_TEXT_CHARACTERS} characters`)
      }
      at = end
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values++
      if (++depth > MAX_DEPTH) {
        throw refusal(field, 'too_deep', `lists or objects more than ${MAX_DEPTH} deep`)
      }
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth--
    } else if (code === COMMA) {
      values++
    }
    if (values > MAX_VALUES) {
      throw refusal(field, 'too_many_values', `over ${MAX_VALUES} values`)
    }
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The index of the closing quotation mark of the string that starts at `start`, or the end of the text. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (' \t\r\n'.includes(text[at] ?? '-')) at++
  return text.charCodeAt(at) === COLON
}

function refusal(path: string, code: string, what: string) {
  const where = path === '' ? 'The body' : `"${path}"`
  return invalid([
    {
      path,
      code,
      message: `${where} holds ${what}, which is more than any request needs: send less.`,
    },
  ])
}
