const KEY = 'watchpost.view'
const WORLD = { center: [15, 20] as [lon: number, lat: number], zoom: 1.4 }

/** Where the reader left the map; the whole world at first. */
export function lastView(): typeof WORLD {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '')
    if (Array.isArray(kept.center) && typeof kept.zoom === 'number') return kept
  } catch {
    // Nothing is kept, or nothing that can be read.
  }
  return WORLD
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
