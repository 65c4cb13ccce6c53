import type { Map as MapLibre } from 'maplibre-gl'
import { BANDS, bandOf } from '../../shared/checks.ts'
import type { Colours } from './base.ts'

const RATIO = 2
/** The width of each symbol in pixels, ordered as the bands are. */
const SIZES = { minor: 9, low: 12, moderate: 16, severe: 20, extreme: 30 } as const

/** The name of the symbol of a severity: the same shape and colour as in lists. */
export const symbolOf = (severity: number) => `severity-${bandOf(severity)}`

/** Gives the map the symbols of the bands of severity, in the colours of the theme. */
export function addSymbols(map: MapLibre, colours: Colours): void {
  for (const band of BANDS) {
    const size = SIZES[band] * RATIO
    const canvas = new OffscreenCanvas(size, size)
    // Read at once: drawn by a graphics card it would have to be fetched from there, which takes long.
    const brush = canvas.getContext('2d', { willReadFrequently: true })
    if (!brush) continue
    draw(brush, band, size, colours.severity[band])
    const name = `severity-${band}`
    if (map.hasImage(name)) map.removeImage(name)
    map.addImage(name, brush.getImageData(0, 0, size, size), { pixelRatio: RATIO })
  }
}

type Brush = OffscreenCanvasRenderingContext2D

function draw(brush: Brush, band: (typeof BANDS)[number], size: number, colour: string): void {
  const middle = size / 2
  brush.fillStyle = colour
  brush.strokeStyle = colour
  if (band === 'extreme') {
    brush.globalAlpha = 0.25
    circle(brush, middle, middle - 1)
    brush.fill()
    brush.globalAlpha = 1
    diamond(brush, middle, middle * 0.62)
    brush.fill()
    return
  }
  if (band === 'severe') {
    diamond(brush, middle, middle - 2)
    brush.fill()
    return
  }
  if (band === 'moderate') {
    brush.lineWidth = 3 * RATIO
    circle(brush, middle, middle - 2 * RATIO)
    brush.stroke()
    return
  }
  circle(brush, middle, middle - 2)
  brush.fill()
}

function circle(brush: Brush, middle: number, radius: number): void {
  brush.beginPath()
  brush.arc(middle, middle, radius, 0, 2 * Math.PI)
}

function diamond(brush: Brush, middle: number, radius: number): void {
  brush.beginPath()
  brush.moveTo(middle, middle - radius)
  brush.lineTo(middle + radius, middle)
  brush.lineTo(middle, middle + radius)
  brush.lineTo(middle - radius, middle)
  brush.closePath()
}
