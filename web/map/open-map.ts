import {
  AttributionControl,
  GPUInitializationError,
  Map as MapLibre,
  type MapOptions,
  NavigationControl,
} from 'maplibre-gl'
import { missWebGL } from './webgl.ts'
import './worker.ts'

/** A map with its controls; undefined where it cannot be drawn, which everybody is told. */
export function openMap(options: MapOptions): MapLibre | undefined {
  try {
    const map = new MapLibre({
      attributionControl: false,
      maxPitch: 0,
      dragRotate: false,
      ...options,
    })
    map.addControl(new NavigationControl({ showCompass: false }), 'top-right')
    map.addControl(new AttributionControl({ compact: true }), 'top-right')
    return map
  } catch (error) {
    if (!(error instanceof GPUInitializationError)) throw error
    missWebGL()
    return undefined
  }
}
