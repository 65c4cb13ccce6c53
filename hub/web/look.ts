import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isDark } from '../../web/ui/colour.ts'
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
