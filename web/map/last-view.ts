const KEY = 'watchpost.view'
const WORLD = { center: [15, 20] as [lon: number, lat: number], zoom: 1.4 }
/** A phone shows a part of the world: all of it would be too small to tell anything. */
const LEAST_ZOOM = 0.6

/** A tile of the base map at zoom 0, which is the whole world. */
const WORLD_PX = 512

type Frame = { width_px: number; covered_px: number }

/** Where the reader left the map; at first the whole world, in what is free of its width beside what covers its left. */
export function lastView(frame?: Frame): typeof WORLD {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '')
    if (Array.isArray(kept.center) && typeof kept.zoom === 'number') return kept
  } catch {
    // Nothing is kept, or nothing that can be read.
  }
  if (!frame) return WORLD
  const fitting = Math.log2((frame.width_px - frame.covered_px) / WORLD_PX)
  const zoom = Math.min(WORLD.zoom, Math.max(LEAST_ZOOM, fitting))
  const [lon, lat] = WORLD.center
  const degrees_per_px = 360 / (WORLD_PX * 2 ** zoom)
  return { zoom, center: [lon - (frame.covered_px / 2) * degrees_per_px, lat] }
}

export function keepView(view: typeof WORLD): void {
  localStorage.setItem(KEY, JSON.stringify(view))
}

/** The middle of the map as the reader left it, in whole hundredths of a degree. */
export function lastPlace(): { lat: number; lon: number } {
  const [lon, lat] = lastView().center
  const round = (value: number) => Math.round(value * 100) / 100
  return { lat: round(lat), lon: round(((((lon + 180) % 360) + 360) % 360) - 180) }
}
