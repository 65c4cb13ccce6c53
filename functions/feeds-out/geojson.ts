import {
  changedAt,
  feedChangedAt,
  headlineOf,
  pageOf,
  subtitleOf,
  titleOf,
  type ZoneFeed,
} from './zone-feed.ts'

/** The feed of a zone as a GeoJSON FeatureCollection (RFC 7946): a point for each alert. */
export function geojsonOf(feed: ZoneFeed): string {
  return JSON.stringify({
    type: 'FeatureCollection',
    title: titleOf(feed),
    description: subtitleOf(feed),
    zone_id: feed.zone_id,
    updated_at: feedChangedAt(feed),
    truncated: feed.is_cut,
    features: feed.alerts.map((alert) => {
      const { current } = alert
      return {
        type: 'Feature',
        id: alert.id,
        geometry: { type: 'Point', coordinates: [current.lon, current.lat] },
        properties: {
          title: headlineOf(alert),
          event_id: current.id,
          source: current.source,
          type: current.type,
          status: current.status,
          ts: current.ts,
          ends_at: current.ends_at,
          severity: alert.severity,
          magnitude: current.magnitude,
          depth_km: current.depth_km,
          subject: current.subject,
          url: pageOf(current),
          reason: alert.reason,
          raised_at: alert.raised_at,
          updated_at: changedAt(alert),
          resolved: alert.resolved,
          updates: alert.updates,
          attribution: alert.attributions.join('; '),
        },
      }
    }),
  })
}
