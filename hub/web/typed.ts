import { useState } from 'react'

/** What was typed and not sent, by its place, while somebody goes through a list. */
const kept = new Map<string, string>()

/** A text that is there again when its place is shown again. */
export function useTyped(place: string) {
  const [typed, setTyped] = useState(() => kept.get(place) ?? '')
  const write = (next: string) => {
    setTyped(next)
    kept.set(place, next)
  }
  /** To be called with what was sent: that is done with, but not what was typed since. */
  const sent = (text: string) => {
    if (kept.get(place)?.trim() === text.trim()) write('')
  }
  return { typed, write, sent }
}
