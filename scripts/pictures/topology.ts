import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { z } from 'zod'

export type LonLat = [lon: number, lat: number]

/** A TopoJSON: arcs of differences, shared by its polygons. */
export const Topology = z.object({
  transform: z.object({
    scale: z.tuple([z.number(), z.number()]),
    translate: z.tuple([z.number(), z.number()]),
  }),
  arcs: z.array(z.array(z.tuple([z.number(), z.number()]))),
})

/** The arcs of a TopoJSON in degrees. */
export function linesOf({ transform, arcs }: z.infer<typeof Topology>): LonLat[][] {
  const { scale, translate } = transform
  return arcs.map((arc) => {
    let [x, y] = [0, 0]
    return arc.map(([dx, dy]): LonLat => {
      x += dx
      y += dy
      return [x * scale[0] + translate[0], y * scale[1] + translate[1]]
    })
  })
}

/** The coast lines of the world, by Natural Earth. */
export async function coastLines(detail: '50m' | '110m'): Promise<LonLat[][]> {
  const path = createRequire(import.meta.url).resolve(`world-atlas/land-${detail}.json`)
  return linesOf(Topology.parse(JSON.parse(await readFile(path, 'utf8'))))
}
