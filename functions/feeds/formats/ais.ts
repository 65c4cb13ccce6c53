/** What the feeds of vessel positions share. */
import { type Normalised, reject, toEvent, toInstant } from '../feed.ts'

/** A position or a safety text of a vessel, as any AIS feed gives it. */
type AisReport = {
  source: string
  mmsi: string
  /** The name, if it is known. */
  name: string | null
  lat: number | null
  lon: number | null
  /** In ms since 1970. */
  at: number
  /** Navigational status 0–15; null if there is none. */
  status: number | null
  /** A safety-related text. */
  text?: string
}

type MmsiClass =
  | 'ship'
  | 'coast station'
  | 'aid to navigation'
  | 'aircraft'
  | 'distress transmitter'

const UNDER_TEST = 15
const NOT_UNDER_COMMAND = 2
const AGROUND = 6
const DISTRESS = 14

/** An MMSI as nine digits; null if it is none. */
export function toMmsi(value: number | string): string | null {
  const text = String(value).trim()
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? text.padStart(9, '0') : null
}

/** What an MMSI stands for (ITU-R M.585). Boats of a ship (98…) are ships. */
export function classOfMmsi(mmsi: string): MmsiClass {
  if (/^97[024]/.test(mmsi)) return 'distress transmitter'
  if (mmsi.startsWith('111')) return 'aircraft'
  if (mmsi.startsWith('00')) return 'coast station'
  if (mmsi.startsWith('99')) return 'aid to navigation'
  return 'ship'
}

/**
 * A distress transmitter (AIS-SART, man overboard, EPIRB) or status 14: 90; aground: 70; not under command:
 * 50; a safety text: 30; any other position: 0.
 */
export function severityOfVessel({
  mmsi,
  status,
  text,
}: Pick<AisReport, 'mmsi' | 'status' | 'text'>): number {
  if (status === DISTRESS || classOfMmsi(mmsi) === 'distress transmitter') return 90
  if (status === AGROUND) return 70
  if (status === NOT_UNDER_COMMAND) return 50
  return text === undefined ? 0 : 30
}

/**
 * Makes an event of a report. Coast stations and aids to navigation do not move: they are rejected. A
 * distress transmitter under test raises nothing.
 */
export function toVesselEvent(report: AisReport, item = report.mmsi): Normalised {
  const { source, lat, lon, at, text } = report
  const mmsi = toMmsi(report.mmsi)
  if (mmsi === null) return reject(item, `mmsi: ${report.mmsi} is nobody’s`)
  const mmsiClass = classOfMmsi(mmsi)
  if (mmsiClass === 'coast station' || mmsiClass === 'aid to navigation') {
    return reject(item, `mmsi: ${mmsi} is not a vessel’s (${mmsiClass})`)
  }
  if (mmsiClass === 'distress transmitter' && isUnderTest(report)) {
    return reject(item, 'status: the distress transmitter is under test')
  }
  if (lat === null || lon === null || (lat === 0 && lon === 0)) {
    return reject(item, 'lat, lon: the sender has no position')
  }
  const name = report.name?.trim() || mmsi
  const id = `${source}:${mmsi}:${Math.floor(at / 1000)}${text === undefined ? '' : ':text'}`
  return toEvent(
    {
      id,
      source,
      type: mmsiClass === 'aircraft' ? 'aircraft' : 'vessel',
      title: text === undefined ? name : `${name}: ${text}`,
      lat,
      lon,
      ts: toInstant(at),
      severity: severityOfVessel({ ...report, mmsi }),
      subject: `mmsi:${mmsi}`,
      url: null,
    },
    item,
  )
}

function isUnderTest({ status, text }: AisReport): boolean {
  return status === UNDER_TEST || /\bTEST\b/i.test(text ?? '')
}

const MAX_KNOWN = 200_000
/** A safety text has no position: the last one of its sender counts this long. */
const PLACE_HOLDS_MS = 30 * 60_000

/** The vessels of a source while a process runs: their names, and where each was last. */
export function createVessels(source: string) {
  type Place = { lat: number; lon: number; at: number }
  type Known = { name?: string; place?: Place }
  const known = new Map<string, Known>()

  function learn(mmsi: string, news: Known): Known {
    const next = { ...known.get(mmsi), ...news }
    known.delete(mmsi)
    known.set(mmsi, next)
    const [oldest] = known.size > MAX_KNOWN ? known.keys() : []
    if (oldest !== undefined) known.delete(oldest)
    return next
  }

  return {
    named: (mmsi: string, name: string | undefined) => {
      if (name?.trim()) learn(mmsi, { name })
    },
    /** The event of a position; `name` where the report itself carries it. */
    position: (
      report: Omit<AisReport, 'source' | 'name' | 'text'> & { name?: string | undefined },
    ) => {
      const { mmsi, lat, lon, at } = report
      const news = report.name?.trim() ? { name: report.name } : {}
      const place = lat === null || lon === null ? {} : { place: { lat, lon, at } }
      const { name = null } = learn(mmsi, { ...news, ...place })
      return toVesselEvent({ ...report, source, name })
    },
    /** The event of a safety text, where its sender was last. */
    text: ({ mmsi, at, text }: { mmsi: string; at: number; text: string }): Normalised => {
      const { name = null, place } = known.get(mmsi) ?? {}
      if (!place || at - place.at > PLACE_HOLDS_MS) {
        return reject(mmsi, 'lat, lon: a safety text came before any position of its sender')
      }
      const { lat, lon } = place
      return toVesselEvent({ source, mmsi, name, lat, lon, at, status: null, text })
    },
  }
}
