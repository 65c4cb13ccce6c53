/**
 * `node scripts/pictures/fires-picture.ts FILE`: draws the fires of a recorded answer of FIRMS on a map
 * with coast lines, as docs/pictures/fires.png. Prints how many there are.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import sharp from 'sharp'
import { readDetections } from '../../functions/feeds/formats/firms-csv.ts'
import { toFires } from '../../functions/feeds/memory/fires.ts'
import { runMain } from '../start/arguments.ts'
import { coastLines, type LonLat } from './topology.ts'

const OUT = resolve(import.meta.dirname, '../../docs/pictures/fires.png')
const WIDTH = 900
const MARGIN_DEG = 3
const COLOURS = { ground: '#f7f5ef', coast: '#6b7780' }
/** From minor to severe. */
const FIRES: [from: number, colour: string][] = [
  [60, '#8c1d18'],
  [40, '#d9480f'],
  [20, '#f59f00'],
  [0, '#fcc419'],
]

await runMain(async () => {
  const [file] = process.argv.slice(2)
  if (!file) throw new Error('Name a recorded answer of FIRMS.')
  const { detections, rejected } = readDetections(await readFile(file, 'utf8'))
  const fires = toFires(detections)
  const svg = draw(
    fires.map((fire) => {
      const strongest = fire.reduce((a, b) => (b.severity > a.severity ? b : a))
      return { ...strongest, count: fire.length }
    }),
    await coastLines('50m'),
  )
  await sharp(Buffer.from(svg)).png({ palette: true, colours: 64 }).toFile(OUT)
  const large = fires.filter(({ length }) => length > 1).length
  process.stdout.write(
    `${detections.length} detections (${rejected.length} rejected) are ${fires.length} fires, ` +
      `${large} of them of several detections.\n`,
  )
})

type Dot = { lon: number; lat: number; severity: number; count: number }

/** A map about all fires, as wide as high at its middle latitude. */
function draw(dots: Dot[], coasts: LonLat[][]): string {
  const lons = dots.map(({ lon }) => lon)
  const lats = dots.map(({ lat }) => lat)
  const [west, east] = [Math.min(...lons) - MARGIN_DEG, Math.max(...lons) + MARGIN_DEG]
  const [south, north] = [Math.min(...lats) - MARGIN_DEG, Math.max(...lats) + MARGIN_DEG]
  const shrink = Math.cos((((south + north) / 2) * Math.PI) / 180)
  const scale = WIDTH / ((east - west) * shrink)
  const height = Math.round((north - south) * scale)
  const at = ([lon, lat]: LonLat) =>
    [(lon - west) * shrink * scale, (north - lat) * scale].map((value) => value.toFixed(1))
  const near = coasts.filter((line) =>
    line.some(([lon, lat]) => lon > west && lon < east && lat > south && lat < north),
  )
  const lines = near.map((line) => `M${line.map((point) => at(point).join(',')).join('L')}`)
  // The strongest are drawn last.
  const circles = dots
    .toSorted((a, b) => a.severity - b.severity)
    .map(({ lon, lat, severity, count }) => {
      const [x, y] = at([lon, lat])
      const colour = FIRES.find(([from]) => severity >= from)?.[1] ?? ''
      return `<circle cx="${x}" cy="${y}" r="${(0.8 + Math.sqrt(count) / 2).toFixed(1)}" fill="${colour}"/>`
    })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}">
    <rect width="100%" height="100%" fill="${COLOURS.ground}"/>
    <path d="${lines.join('')}" fill="none" stroke="${COLOURS.coast}" stroke-width="1.2"/>
    ${circles.join('')}</svg>`
}
