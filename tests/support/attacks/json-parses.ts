import { vi } from 'vitest'

/** Counts the texts of more than 1,000 characters that are passed to JSON.parse from now on. */
export function countJsonParses(note: () => void = () => undefined) {
  const texts: number[] = []
  const parse = JSON.parse
  const spy = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    if (String(text).length > 1000) {
      texts.push(String(text).length)
      note()
    }
    return parse(text, reviver)
  })
  return { texts, stop: () => spy.mockRestore() }
}
