import type { Map as MapLibre } from 'maplibre-gl'
import { BANDS, bandOf } from '../../shared/decide/bands.ts'
import type { Colours } from './base.ts'

const RATIO = 2
/** The width of each symbol in pixels, ordered as the bands are. */
const SIZES = { minor: 9, low: 12, moderate: 16, severe: 20, extreme: 30 } as const

/** The name of the symbol of a severity: the same shape and colour as in lists. */
export const symbolOf = (severity: number) => `severity-${bandOf(severity)}`

/** The name of the symbol of a vessel or an aircraft: an arrow where it goes, a square when it lies still. */
export const moverOf = (severity: number, isMoving: boolean) =>
  `${isMoving ? 'mover' : 'still'}-${bandOf(severity)}`
/** The name of the arrowheads on a way. */
export const ARROW = 'arrow'
const MOVER_PX = 16
const STILL_PX = 11
const ARROW_PX = 14

/** Gives the map the symbols of the bands of severity and of what moves, in the colours of the theme. */
export function addSymbols(map: MapLibre, colours: Colours): void {
  for (const band of BANDS) {
    const colour = colours.severity[band]
    addSymbol(map, `severity-${band}`, SIZES[band], (brush, size) =>
      draw(brush, band, size, colour),
    )
    addSymbol(map, `mover-${band}`, MOVER_PX, (brush, size) => {
      brush.fillStyle = colour
      brush.strokeStyle = colours.halo
      arrow(brush, size)
    })
    addSymbol(map, `still-${band}`, STILL_PX, (brush, size) => {
      brush.fillStyle = colour
      brush.strokeStyle = colours.halo
      brush.lineWidth = RATIO
      brush.beginPath()
      brush.rect(RATIO, RATIO, size - 2 * RATIO, size - 2 * RATIO)
      brush.fill()
      brush.stroke()
    })
  }
  addSymbol(map, ARROW, ARROW_PX, (brush, size) => {
    brush.fillStyle = colours.text
    brush.strokeStyle = colours.halo
    // Along a line symbols point to the right.
    brush.translate(size, 0)
    brush.rotate(Math.PI / 2)
    arrow(brush, size)
  })
}

function addSymbol(
  map: MapLibre,
  name: string,
  width: number,
  paint: (brush: Brush, size: number) => void,
): void {
  const size = width * RATIO
  const canvas = new OffscreenCanvas(size, size)
  // Read at once: drawn by a graphics card it would have to be fetched from there, which takes long.
  const brush = canvas.getContext('2d', { willReadFrequently: true })
  if (!brush) return
  paint(brush, size)
  if (map.hasImage(name)) map.removeImage(name)
  map.addImage(name, brush.getImageData(0, 0, size, size), { pixelRatio: RATIO })
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

/** An arrowhead that points up. */
function arrow(brush: Brush, size: number): void {
  const edge = RATIO
  brush.lineWidth = RATIO
  brush.lineJoin = 'round'
  brush.beginPath()
  brush.moveTo(size / 2, edge)
  brush.lineTo(size - 2 * edge, size - edge)
  brush.lineTo(size / 2, size * 0.72)
  brush.lineTo(2 * edge, size - edge)
  brush.closePath()
  brush.fill()
  brush.stroke()
}
