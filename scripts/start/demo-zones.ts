import { z } from 'zod'

/** One zone for each kind of event that the demo replays, where it happens within the first minutes. */
const ZONES = [
  {
    label: 'Earthquakes in California',
    ...{ lat: 36, lon: -119.5, radius_km: 550, min_severity: 20, types: ['earthquake'] },
  },
  {
    label: 'Hurricanes near the Bahamas',
    ...{ lat: 23, lon: -74, radius_km: 700, min_severity: 50, types: ['storm'] },
  },
  {
    label: 'Fires in the Pantanal',
    ...{ lat: -19, lon: -57.5, radius_km: 500, min_severity: 60, types: ['wildfire'] },
  },
  {
    label: 'Weather of the northern Plains',
    ...{ lat: 46.5, lon: -98, radius_km: 450, min_severity: 70, types: ['weather', 'flood'] },
  },
  {
    label: 'Ships at Helsingør',
    ...{ lat: 56.034, lon: 12.622, radius_km: 1.2, min_severity: 0, types: ['vessel'] },
  },
  {
    label: 'Ships in trouble in the Bosporus',
    ...{ lat: 41.11, lon: 29.06, radius_km: 20, min_severity: 50, types: ['vessel'] },
  },
]

const Problem = z.object({ detail: z.string() })

/** createDemoZones creates the zones of the demo with the key of its new account, and returns their labels. */
export async function createDemoZones(url: string, api_key: string): Promise<string[]> {
  for (const zone of ZONES) {
    const answer = await fetch(`${url}/api/v1/zones`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api_key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(zone),
    })
    const body: unknown = await answer.json()
    if (!answer.ok) {
      const { data } = Problem.safeParse(body)
      throw new Error(`The zone "${zone.label}" was refused: ${data?.detail ?? answer.status}`)
    }
  }
  return ZONES.map(({ label }) => label)
}
