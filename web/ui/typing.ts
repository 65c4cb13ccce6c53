import { useMemo } from 'react'

type TextField = HTMLInputElement | HTMLTextAreaElement

const TEXTS = ['text', 'url', 'email', 'tel', 'number', 'password']

/** Whether somebody writes in it; a search is no writing. */
function isTextField(target: EventTarget): target is TextField {
  if (target instanceof HTMLTextAreaElement) return !target.readOnly
  if (!(target instanceof HTMLInputElement) || target.readOnly) return false
  return TEXTS.includes(target.type) && target.role !== 'combobox'
}

/** useTyping tells whether a text that somebody has changed is still in its field. */
export function useTyping() {
  return useMemo(() => {
    /** What each field had when it got the focus first. */
    const before = new Map<TextField, string>()
    return {
      note(target: EventTarget): void {
        if (isTextField(target) && !before.has(target)) before.set(target, target.value)
      },
      isLeft: (): boolean =>
        [...before].some(
          ([field, value]) => field.isConnected && field.value.trim() !== value.trim(),
        ),
    }
  }, [])
}
