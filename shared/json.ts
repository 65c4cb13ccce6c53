import { invalid } from './problem.ts'

/** What a body may hold: all that a polygon of 10,000 vertices in many rings needs, and some more. */
export const MOST_VALUES = 60_000
/** Lists and objects in one another; a polygon in a call of a batch needs ten. */
export const MOST_DEPTH = 32
export const MOST_TEXT = 64 * 1024

/**
 * requireModestJson refuses a text whose JSON would be dear to parse or to test: too deep, of too
 * many values, or with too long a text. One pass without recursion, before anything is parsed.
 */
export function requireModestJson(text: string): void {
  let depth = 0
  let values = 0
  let field = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(text, at)
      if (depth === 1 && isKey(text, end)) field = text.slice(at + 1, Math.min(end, at + 65))
      if (end - at > MOST_TEXT) {
        throw refusal(field, 'text_too_long', `a text of over ${MOST_TEXT} characters`)
      }
      at = end
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values++
      if (++depth > MOST_DEPTH) {
        throw refusal(field, 'too_deep', `lists or objects more than ${MOST_DEPTH} deep`)
      }
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth--
    } else if (code === COMMA) {
      values++
    }
    if (values > MOST_VALUES) {
      throw refusal(field, 'too_many_values', `over ${MOST_VALUES} values`)
    }
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Where the text that begins at a quotation mark ends: at its other one, or with everything. */
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
    { path, code, message: `${where} holds ${what}, which nothing here needs: send less.` },
  ])
}
