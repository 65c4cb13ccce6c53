const KEY = 'watchpost.view'
const WORLD = { center: [15, 20] as [lon: number, lat: number], zoom: 1.4 }

/** A tile of the base map at zoom 0, which is the whole world. */
const WORLD_PX = 512

/** Where the reader left the map; at first the whole world, beside what covers so many pixels of the map's left. */
export function lastView(covered_px = 0): typeof WORLD {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '')
    if (Array.isArray(kept.center) && typeof kept.zoom === 'number') return kept
  } catch {
    // Nothing is kept, or nothing that can be read.
  }
  const [lon, lat] = WORLD.center
  const degrees_per_px = 360 / (WORLD_PX * 2 ** WORLD.zoom)
  return { ...WORLD, center: [lon - (covered_px / 2) * degrees_per_px, lat] }
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
