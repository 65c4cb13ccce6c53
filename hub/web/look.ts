import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isDark } from '../../shared/colour.ts'
import { OWN_LOOK } from '../branding/own-look.ts'
import { lookQuery } from './api/queries.ts'

/** The name and logo of this hub, or the customer's own if the license includes branding. */
export function useLook() {
  return useQuery(lookQuery).data ?? OWN_LOOK
}

/**
 * useBranding applies the customer's name and colours to the page. It uses CSSOM, because inline
 * styles are not allowed.
 */
export function useBranding(): void {
  const { name, colors } = useLook()
  // Our own colour differs between themes.
  const primary = colors.primary === OWN_LOOK.colors.primary ? undefined : colors.primary
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
