import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { lookQuery } from './api/queries.ts'

const OWN_NAME = 'Watchpost Hub'

/** The name and logo of this hub; the customer's own where the licence has branding. */
export function useLook() {
  return useQuery(lookQuery).data ?? { name: OWN_NAME, logo: null, colors: null }
}

/** useBranding puts the customer's name and colour over the whole page; CSSOM needs no inline style. */
export function useBranding(): void {
  const { name, colors } = useLook()
  const own = name === OWN_NAME
  const primary = own ? undefined : colors?.primary
  useEffect(() => {
    document.title = name
  }, [name])
  useEffect(() => {
    if (!primary) return
    const { style } = document.documentElement
    style.setProperty('--accent', primary)
    style.setProperty('--on-accent', isDark(primary) ? '#ffffff' : '#0b0f14')
    return () => {
      style.removeProperty('--accent')
      style.removeProperty('--on-accent')
    }
  }, [primary])
}

/** Whether white reads better on a colour than ink, by WCAG's relative luminance. */
export function isDark(colour: string): boolean {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.18
}
