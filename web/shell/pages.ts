import { Bell, ChartColumn, Compass, Hexagon, Send } from 'lucide-react'

/** The pages in the order of the navigation, each with the key after `g` that opens it. */
export const PAGES = [
  { name: 'map', path: '/', icon: Compass, key: 'm' },
  { name: 'alerts', path: '/alerts', icon: Bell, key: 'a' },
  { name: 'zones', path: '/zones', icon: Hexagon, key: 'z' },
  { name: 'channels', path: '/channels', icon: Send, key: 'c' },
  { name: 'reports', path: '/reports', icon: ChartColumn, key: 'r' },
] as const
