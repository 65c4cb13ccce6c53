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
  listTracks: {
    response: {
      tracks: [
        {
          event_id: 'nhc:al092008',
          source: 'nhc',
          type: 'storm',
          title: 'Hurricane Ike',
          severity: 60,
          subject: 'nhc:al092008',
          status: 'active',
          ts: '2008-09-04T03:00:00.000Z',
          steps: [
            { lat: 22.4, lon: -54.3, ts: '2008-09-03T21:00:00.000Z', severity: 60, flag: null },
            { lat: 22.7, lon: -55.5, ts: '2008-09-04T03:00:00.000Z', severity: 60, flag: null },
          ],
        },
      ],
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
  listFootprints: {
    type: 'FeatureCollection',
    features: [
      {
        type: 'Feature',
        id: 'nws:urn:oid:2.49.0.1.840.0.1',
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [-97.5, 35.1],
              [-97.1, 35.1],
              [-97.1, 35.4],
              [-97.5, 35.1],
            ],
          ],
        },
        properties: {
          type: 'weather',
          title: 'Flash Flood Warning',
          severity: 70,
          status: 'active',
          ts: '2026-03-01T12:00:00.000Z',
        },
      },
    ],
    next_cursor: null,
  },
}
