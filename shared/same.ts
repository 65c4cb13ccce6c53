/** Whether two values are equal, whatever the order of their fields and the offset of their times. */
export function isSame(a: unknown, b: unknown): boolean {
  return asText(a) === asText(b)
}

function asText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') return asTime(inner)
    return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner
  })
}

/** A time in UTC; any other text as it is. */
function asTime(text: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+(Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? text : new Date(time).toISOString()
}
