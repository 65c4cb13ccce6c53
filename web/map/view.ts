/** The part of the world that the map shows. */
export type View = { bbox: string; zoom: number }

/** The whole world, as a list shows it. */
export const WORLD_VIEW: View = { bbox: '-180,-90,180,90', zoom: 2 }

/**
 * What a view is part of, in steps of half its width: the map moves a little, and what is around it is known already.
 */
export function around({ bbox, zoom }: View): View {
  const [west = -180, south = -90, east = 180, north = 90] = bbox.split(',').map(Number)
  const step = Math.max(1, 180 / 2 ** zoom)
  const width = west <= east ? east - west : east - west + 360
  const from = Math.floor(west / step) * step
  const to = Math.ceil((west + width) / step) * step
  const isWorld = to - from >= 360
  const wrap = (lon: number) => ((((lon + 180) % 360) + 360) % 360) - 180
  const box = [
    isWorld ? -180 : wrap(from),
    Math.max(-90, Math.floor(south / step) * step),
    // The last meridian is 180, not the first one.
    isWorld ? 180 : wrap(to) === -180 ? 180 : wrap(to),
    Math.min(90, Math.ceil(north / step) * step),
  ]
  return { bbox: box.join(','), zoom }
}
