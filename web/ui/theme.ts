import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark' | 'system'
const KEY = 'watchpost.theme'
const light = matchMedia('(prefers-color-scheme: light)')
const listeners = new Set<() => void>()

function chosen(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

function apply(): void {
  const theme = chosen()
  document.documentElement.dataset.theme =
    theme === 'system' ? (light.matches ? 'light' : 'dark') : theme
  for (const listener of listeners) listener()
}
light.addEventListener('change', apply)

export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  apply()
}

/** onTheme calls the listener whenever other colours apply; returns a function that stops it. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useTheme(): Theme {
  return useSyncExternalStore(onTheme, chosen)
}
