import { useEffect, useRef } from 'react'

/** Shortcuts and their handlers: `j`, `mod+k` (⌘ or Ctrl), `g l` (one after the other), `?`. */
export type Keys = Record<string, ((event: KeyboardEvent) => void) | undefined>

const SEQUENCE_MS = 900

/** The platform's name of the modifier key in `mod+k`. */
export const MOD = /mac|iphone|ipad/i.test(globalThis.navigator?.userAgent ?? '') ? '⌘' : 'Ctrl'

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) &&
    !(target instanceof HTMLInputElement && target.type === 'checkbox')
  )
}

/** useKeys handles shortcuts of the page, except while somebody types or a modal dialog is open. */
export function useKeys(keys: Keys, isEnabled = true): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    if (!isEnabled) return
    let first = ''
    let at = 0
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return
      const isMod = event.metaKey || event.ctrlKey
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
      if (!isMod && isTyping(event.target)) return
      if (document.querySelector('dialog:modal, [role=menu]') && !isMod) return
      const isSecond = first !== '' && event.timeStamp - at < SEQUENCE_MS
      const name = isMod ? `mod+${key}` : isSecond ? `${first} ${key}` : key
      const action = latest.current[name] ?? (isSecond ? latest.current[key] : undefined)
      first = ''
      if (action) {
        event.preventDefault()
        action(event)
        return
      }
      if (Object.keys(latest.current).some((known) => known.startsWith(`${name} `))) {
        first = name
        // When it was pressed: a busy page may hear of it late.
        at = event.timeStamp
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [isEnabled])
}
