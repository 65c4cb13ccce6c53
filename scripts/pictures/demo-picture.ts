/**
 * `node scripts/pictures/demo-picture.ts`: draws what the demo replays in one round on a map of the world, as
 * docs/pictures/demo.png.
 */
import { resolve } from 'node:path'
import sharp from 'sharp'
import { roundOf } from '../../functions/feeds/replay/clock.ts'
import { loadReplays } from '../../functions/feeds/replay/load.ts'
import type { EventType, NormalisedEvent } from '../../shared/schemas/event.ts'
import { runMain } from '../start/arguments.ts'
import { coastLines, type LonLat } from './topology.ts'

const OUT = resolve(import.meta.dirname, '../../docs/pictures/demo.png')
const WIDTH = 1200
const [NORTH, SOUTH] = [75, -58]
const SCALE = WIDTH / 360
const HEIGHT = (NORTH - SOUTH) * SCALE
const LEGEND_PX = 40
const INK = { ground: '#f7f5ef', coast: '#a9b1b6', text: '#24313c' }

/** Each kind has a shape of its own, so that nobody has to tell the colours apart. */
const KINDS: {
  types: EventType[]
  words: string
  draw: (x: number, y: number, severity: number) => string
}[] = [
  {
    types: ['earthquake', 'volcano', 'other'],
    words: 'earthquakes',
    draw: (x, y, severity) =>
      `<circle cx="${x}" cy="${y}" r="${1 + severity / 16}" fill="none" stroke="#7048a8" stroke-width="1"/>`,
  },
  {
    types: ['wildfire'],
    words: 'fires',
    draw: (x, y, severity) => {
      const r = 1.5 + severity / 25
      return `<path d="M${x},${y - r}l${r},${2 * r}h${-2 * r}z" fill="#d9480f"/>`
    },
  },
  {
    types: ['weather', 'flood'],
    words: 'weather warnings',
    draw: (x, y) => `<rect x="${x - 2}" y="${y - 2}" width="4" height="4" fill="#b8860b"/>`,
  },
  {
    types: ['storm'],
    words: 'hurricanes',
    draw: (x, y, severity) =>
      `<circle cx="${x}" cy="${y}" r="${severity / 14}" fill="#1c6fb8" fill-opacity="0.75"/>`,
  },
  {
    types: ['vessel'],
    words: 'invented vessels',
    draw: (x, y) => `<path d="M${x},${y - 6}l4.5,6l-4.5,6l-4.5,-6z" fill="#0b7a62" stroke="#fff"/>`,
  },
]

function at([lon, lat]: LonLat): [x: number, y: number] {
  return [Number(((lon + 180) * SCALE).toFixed(1)), Number(((NORTH - lat) * SCALE).toFixed(1))]
}

/** A line on the map, which is not drawn across it where it leaves at one side and comes in at the other. */
function pathOf(line: LonLat[]): string {
  return line
    .map((point, index) => {
      const [before = point[0]] = line[index - 1] ?? []
      const is_drawn = index > 0 && Math.abs(point[0] - before) < 180
      return `${is_drawn ? 'L' : 'M'}${at(point).join()}`
    })
    .join('')
}

function draw(events: readonly NormalisedEvent[], coasts: LonLat[][]): string {
  const lines = coasts.filter((line) => line.some(([, lat]) => lat > SOUTH)).map(pathOf)
  const marks = KINDS.flatMap(({ types, draw }) =>
    events
      .filter(({ type }) => types.includes(type))
      .map(({ lon, lat, severity }) => draw(...at([lon, lat]), severity)),
  )
  const legend = KINDS.map(({ words, draw }, index) => {
    const x = 40 + index * 230
    const y = HEIGHT + LEGEND_PX / 2
    return `${draw(x, y, 55)}<text x="${x + 16}" y="${y + 5}" font-size="16" fill="${INK.text}"
      font-family="Inter, Helvetica, Arial, sans-serif">${words}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT + LEGEND_PX}">
    <rect width="100%" height="100%" fill="${INK.ground}"/>
    <path d="${lines.join('')}" fill="none" stroke="${INK.coast}"/>
    <clipPath id="map"><rect width="${WIDTH}" height="${HEIGHT}"/></clipPath>
    <g clip-path="url(#map)">${marks.join('')}</g>
    <rect y="${HEIGHT}" width="100%" height="${LEGEND_PX}" fill="${INK.ground}"/>${legend.join('')}</svg>`
}

await runMain(async () => {
  const { start, length } = roundOf(1)
  const events = (await loadReplays()).flatMap(({ due }) => due(start, start + length, 0))
  // Of a storm every position, of everything else its last state.
  const latest = new Map(
    events.map((event) => [
      event.type === 'storm' ? `${event.id} ${event.ts}` : (event.subject ?? event.id),
      event,
    ]),
  )
  const svg = draw([...latest.values()], await coastLines('110m'))
  await sharp(Buffer.from(svg)).png({ palette: true, colours: 64 }).toFile(OUT)
  process.stdout.write(`${latest.size} marks in ${OUT}\n`)
})
