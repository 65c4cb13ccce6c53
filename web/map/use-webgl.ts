import { useSyncExternalStore } from 'react'
import { hasWebGL, onWebGL } from './webgl.ts'

/** Whether the browser can draw maps, and anew when a map finds that it cannot. */
export const useWebGL = () => useSyncExternalStore(onWebGL, hasWebGL)
