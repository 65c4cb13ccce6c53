/** An item of the RSS feed of GDACS with made-up values; null leaves an element out. */
export function gdacsItem(over: Record<string, string | null> = {}): string {
  const { title, point, severity, guid, ...fields } = {
    title: 'Orange alert for tropical cyclone TEST-26.',
    guid: null,
    point: '-19.4 59.8',
    severity: 'km/h 92.592 Tropical Storm (maximum wind speed of 93 km/h)',
    eventtype: 'TC',
    eventid: '1000643',
    episodeid: '1',
    alertlevel: 'Orange',
    episodealertlevel: 'Green',
    iscurrent: 'true',
    temporary: 'false',
    fromdate: 'Sat, 28 Feb 2026 06:00:00 GMT',
    todate: 'Sun, 01 Mar 2026 06:00:00 GMT',
    ...over,
  }
  const [lat, lon] = (point ?? '').split(' ')
  const [unit, value, ...text] = (severity ?? '').split(' ')
  const name = guid ?? `${fields.eventtype}${fields.eventid}`
  const elements = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `<gdacs:${key}>${value}</gdacs:${key}>`)
  return `<item><title>${title ?? ''}</title><pubDate>Sun, 01 Mar 2026 11:55:00 GMT</pubDate>
    <guid isPermaLink="false">${name}</guid>
    ${point === null ? '' : `<geo:Point><geo:lat>${lat}</geo:lat><geo:long>${lon}</geo:long></geo:Point>`}
    ${severity === null ? '' : `<gdacs:severity unit="${unit}" value="${value}">${text.join(' ')}</gdacs:severity>`}
    ${elements.join('\n')}</item>`
}

export function gdacsRss(...items: string[]): string {
  return `\ufeff<?xml version="1.0" encoding="utf-8"?>
    <rss version="2.0" xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#" xmlns:gdacs="http://www.gdacs.org">
    <channel><title>GDACS RSS information</title>${items.join('\n')}</channel></rss>`
}

/** A feature of the event list of GDACS. */
export function gdacsFeature(over: Record<string, unknown> = {}) {
  const { at = [-113.8, 23.6], geometry, ...properties } = over
  return {
    type: 'Feature',
    geometry: geometry ?? { type: 'Point', coordinates: at },
    properties: {
      eventtype: 'FL',
      eventid: 1104081,
      episodeid: 20,
      name: 'Flood in China',
      htmldescription: 'Orange Flood in <b>China</b>',
      alertlevel: 'Orange',
      episodealertlevel: 'Green',
      istemporary: 'false',
      iscurrent: 'true',
      fromdate: '2026-01-31T01:00:00',
      todate: '2026-02-27T01:00:00',
      datemodified: '2026-02-28T10:54:18',
      Class: 'Point_Centroid',
      severitydata: { severity: 0, severitytext: 'Magnitude 0 ', severityunit: '' },
      ...properties,
    },
  }
}

/** An area of the footprint of an event. */
export function gdacsArea(over: Record<string, unknown> = {}, coordinates: unknown = SQUARE) {
  return gdacsFeature({ Class: 'Poly_area', geometry: { type: 'Polygon', coordinates }, ...over })
}

const SQUARE = [
  [
    [10, 10],
    [12, 10],
    [12, 12],
    [10, 12],
    [10, 10],
  ],
]
