import { alert, type Given } from './cap.ts'

const LINES = {
  EventLatLon: '51.800,-171.400 0.000',
  EventOriginTime: '2026-03-01T10:55:55-00:00',
  EventPreliminaryMagnitude: '7.1',
  EventDepth: '39 kilometers',
  EventLocationName: '45 miles SE of Amukta Pass, Alaska',
}

/** A bulletin of Palmer about the event lqw6d6. */
export function bulletin(number: number, given: Given = {}): string {
  return alert({
    ...given,
    alert: {
      identifier: `PAAQ-${number}-lqw6d6`,
      incidents: 'lqw6d6',
      sent: `2026-03-01T11:${String(number).padStart(2, '0')}:00-00:00`,
      msgType: number === 1 ? 'Alert' : 'Update',
      ...given.alert,
    },
    info: {
      category: 'Geo',
      event: 'Tsunami Warning',
      headline: 'A tsunami warning is in effect',
      web: 'http://www.tsunami.gov/events/PAAQ/2026/03/01/lqw6d6/1/WEPA41/WEPA41.txt',
      expires: '2026-03-01T12:30:00-00:00',
      ...given.info,
    },
    area: { polygon: null, ...given.area },
    parameters: { ...LINES, ...given.parameters },
  })
}
