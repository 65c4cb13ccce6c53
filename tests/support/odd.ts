/** A place in an answer, and copies of the answer in which its value is odd. */
type Odd = [place: string, copies: [value: string, copy: string][]]

/** For each value of the first items of lists: copies in which it is odd, or missing. */
export function oddJson(text: string): Odd[] {
  const found: Odd[] = []
  const visit = (node: unknown, path: string[]) => {
    const replaced = (by: unknown) => JSON.stringify(JSON.parse(text), replacer(path, by))
    if (path.length > 0) {
      const odd = [undefined, null, ...oddOf(node)]
      found.push([
        path.join('.'),
        odd.map((value) => [value === undefined ? 'none' : JSON.stringify(value), replaced(value)]),
      ])
    }
    if (node === null || typeof node !== 'object') return
    const entries = Object.entries(node)
    for (const [key, value] of Array.isArray(node) ? entries.slice(0, 2) : entries)
      visit(value, [...path, key])
  }
  visit(JSON.parse(text), [])
  return found
}

/** A function for JSON.stringify that replaces the value at a path. */
function replacer(path: string[], by: unknown) {
  const places = new Map<unknown, string[]>()
  return function (this: unknown, key: string, value: unknown) {
    const here = key === '' ? [] : [...(places.get(this) ?? []), key]
    if (value !== null && typeof value === 'object') places.set(value, here)
    return here.length === path.length && here.every((one, index) => one === path[index])
      ? by
      : value
  }
}

/** For each text between tags or separators: copies in which it is odd. */
export function oddText(text: string): Odd[] {
  const seen = new Map<string, number>()
  return [...text.matchAll(/(?<=[>"\t,\n]|^)[^<>"\t,\n]*[^<>"\t,\n\s][^<>"\t,\n]*/g)].map(
    ({ 0: was, index }) => {
      const before = /[\w:]*[^\w:]*$/.exec(text.slice(0, index))?.[0].trim() ?? ''
      const nth = (seen.get(before) ?? 0) + 1
      seen.set(before, nth)
      const copy = (value: unknown) => text.slice(0, index) + value + text.slice(index + was.length)
      return [
        `${before} ${nth}: ${was.slice(0, 60)}`,
        oddOf(was).map((value) => [JSON.stringify(value), copy(value)]),
      ]
    },
  )
}

/** What may stand in the place of a value by mistake: of another kind, at an edge, or a little wrong. */
function oddOf(value: unknown): unknown[] {
  if (typeof value === 'number') return ['', String(value), -value, 0, value + 0.5, value * 10, 1e6]
  if (typeof value === 'boolean') return [!value, 'yes']
  if (typeof value !== 'string') return ['', {}, []]
  const cut = value.slice(0, 40)
  const short = cut.length === value.length ? [`x${value}`, `${value}x`, `${value} ${value}`] : []
  const cased = [...new Set([value.toUpperCase(), value.toLowerCase()])].filter(
    (one) => one !== value && one.length <= 40,
  )
  return ['', 'x', '-1', '0', '1000', '2026-03-01T11:00:00Z', ...short, ...cased]
}
