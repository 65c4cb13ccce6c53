/** The examples of following alerts and events, and of looking at events. */
import { STORY } from './story.ts'

const { alert, event } = STORY
const { zone_ids, ...fields } = event
const { id, attribution: _, updated_at, flag: __, late: ___, ...state } = fields
const NEXT = 'WzEsImFCY0QiLCIwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDAiLDJd'
const geometry = { type: 'Point', coordinates: [event.lon, event.lat] }

export const EVENT_EXAMPLES = {
  listAlertChanges: {
    response: {
      changes: [
        { seq: 1, kind: 'upsert', alert },
        { seq: 2, kind: 'gone', alert: { id: STORY.delivery.id } },
      ],
      next_cursor: NEXT,
    },
  },
  listEventChanges: {
    response: {
      changes: [
        { seq: 1, kind: 'upsert', event: fields },
        { seq: 2, kind: 'gone', event: { id: 'usgs:us7000old1' } },
      ],
      next_cursor: NEXT,
    },
  },
  getEvent: {
    response: {
      event: {
        ...fields,
        geometry: null,
        revisions: [{ ...state, revision: 1, first_seen_at: updated_at }],
      },
      next_cursor: null,
    },
  },
}

/** The examples of answers that are GeoJSON. */
export const GEOJSON_EXAMPLES: Record<string, object> = {
  listEvents: {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', id, geometry, properties: { ...fields, zone_ids } }],
    next_cursor: null,
  },
  getEventMap: {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', id, geometry, properties: { ...fields, cluster: false } }],
    total: 1,
    clustered: false,
  },
}
