const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z'
const DAY = '\\d{4}-\\d\\d-\\d\\d'
const PARTS = new RegExp(`(${UUID}|${TIME}|${DAY}|…)`)
/** What is measured, and differs each time. */
const MEASURED = ['duration_ms', 'expires_at']

/** What each id and time of a page stands for. The same one always stands for the same. */
export type Meanings = Map<string, string>

/**
 * differences compares what a page shows with what was answered, and returns a line for each difference. Ids and times
 * have to have their form and to be consistent; `…` stands for anything, and a field of this name for all others.
 */
export function differences(
  shown: unknown,
  actual: unknown,
  meanings: Meanings,
  path = '',
): string[] {
  const at = path === '' ? 'it' : path
  if (shown === '…') return actual === undefined ? [`${at} is shown and not sent`] : []
  if (Array.isArray(shown)) {
    if (!Array.isArray(actual)) return [`${at} is shown as a list and is ${said(actual)}`]
    const items = shown.filter((item) => item !== '…')
    const isCut = items.length < shown.length
    if (isCut ? actual.length <= items.length : actual.length !== items.length)
      return [`${at} is shown with ${items.length} and has ${actual.length}: ${said(actual)}`]
    // What is left out stands at one end.
    const from = shown[0] === '…' ? actual.length - items.length : 0
    return items.flatMap((item, n) =>
      differences(item, actual[from + n], meanings, `${path}.${from + n}`),
    )
  }
  if (isObject(shown)) {
    if (!isObject(actual)) return [`${at} is shown as an object and is ${said(actual)}`]
    const { '…': others, ...fields } = shown
    const missing = Object.keys(actual).filter((name) => !(name in fields))
    return [
      ...(others !== undefined && missing.length === 0 ? [`${at} has nothing for its …`] : []),
      ...(others === undefined ? missing : []).map(
        (name) => `${path}.${name} is sent and not shown: ${said(actual[name])}`,
      ),
      ...Object.entries(fields).flatMap(([name, value]) =>
        name in actual
          ? differences(value, actual[name], meanings, `${path}.${name}`)
          : [`${path}.${name} is shown and not sent`],
      ),
    ]
  }
  const isLike =
    typeof shown === 'string'
      ? typeof actual === 'string' && isLikeText(shown, actual, meanings)
      : typeof shown === 'number'
        ? typeof actual === 'number' && isLikeNumber(shown, actual, path)
        : shown === actual
  return isLike ? [] : [`${at} is shown as ${said(shown)} and is ${said(actual)}`]
}

function isLikeText(shown: string, actual: string, meanings: Meanings): boolean {
  const parts = shown.split(PARTS)
  const pattern = parts.map((part, n) => (n % 2 === 0 ? literal(part) : `(${formOf(part)})`))
  const found = actual.match(new RegExp(`^${pattern.join('')}$`, 's'))
  if (!found) return false
  return parts
    .filter((_, n) => n % 2 === 1)
    .every((part, n) => part === '…' || isMeant(part, found[n + 1] ?? '', meanings))
}

function formOf(part: string): string {
  if (part === '…') return '.*'
  return [UUID, TIME, DAY].find((form) => new RegExp(`^${form}$`).test(part)) ?? ''
}

/** Whether a part of a page stands for this; an id stands for one thing, and no other id does. */
function isMeant(part: string, actual: string, meanings: Meanings): boolean {
  const known = meanings.get(part)
  if (known !== undefined) return known === actual
  if (new RegExp(`^${UUID}$`).test(part) && [...meanings.values()].includes(actual)) return false
  meanings.set(part, actual)
  return true
}

function isLikeNumber(shown: number, actual: number, path: string): boolean {
  if (MEASURED.some((name) => path.endsWith(`.${name}`))) return true
  return Math.abs(shown - actual) <= 1e-9 * Math.max(1, Math.abs(shown))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

function said(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
