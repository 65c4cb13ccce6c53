import {
  AttributionControl,
  GPUInitializationError,
  Map as MapLibre,
  type MapOptions,
  NavigationControl,
} from 'maplibre-gl'
import { missWebGL } from './webgl.ts'
import './worker.ts'

/**
 * A map with its controls; while it has drawn all that it was given, its element has `data-idle`. Undefined where it
 * cannot be drawn, which everybody is told.
 */
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
    const { dataset } = map.getContainer()
    map.on('render', () => delete dataset.idle)
    map.on('idle', () => {
      dataset.idle = ''
    })
    return map
  } catch (error) {
    if (!(error instanceof GPUInitializationError)) throw error
    missWebGL()
    return undefined
  }
}
