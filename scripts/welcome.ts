import type { Minted } from './accounts.ts'

export type Welcome = {
  url: string
  is_replay: boolean
  account: { email: string; plan: string }
  /** Only where one was just made. */
  minted: Minted | undefined
  /** What `npm run admin` needs to find this Watchpost. */
  admin_options: string
  /** For the demo: what its webhook is signed with. */
  signing_secret: string
}

/** welcome is what `npm start` says when the service is up: what to open, and what to try. */
export function welcome(given: Welcome): string {
  return [links(given), key(given), given.is_replay ? demo(given) : firstCall(given)].join('\n')
}

function links({ url, is_replay }: Welcome): string {
  const replay = `
  REPLAY: a recorded week of USGS earthquakes (31 January to 7 February 2018) plays again, in five
  minutes, then every thirty. Nothing here is live.
`
  return `${is_replay ? replay : ''}
  API and its documentation   ${url}/docs
  Health of the sources       ${url}/api/sources/health`
}

function key({ account, minted, admin_options }: Welcome): string {
  const mint = `npm run admin -- key mint --email ${account.email} --scopes read,write${admin_options}`
  if (minted) {
    return `  Account                     ${account.email} (${account.plan})
  API key, shown only now     ${minted.api_key}
  Another key                 ${mint}
`
  }
  return `  An API key                  ${mint}
`
}

const HEADERS = `-H "Authorization: Bearer $KEY" -H 'Content-Type: application/json'`

function firstCall({ url, minted }: Welcome): string {
  return `  Try it in another terminal:

    KEY=${minted?.api_key ?? 'wp_live_…'}
    curl -s ${url}/api/v1/zones ${HEADERS} \\
      -d '{"label": "Around me", "lat": 38.0, "lon": 23.7, "radius_km": 500, "min_severity": 30}'
    curl -s ${url}/api/v1/events -H "Authorization: Bearer $KEY"
`
}

function demo({ url, minted, signing_secret }: Welcome): string {
  const channel = `{"kind": "webhook", "label": "This machine", "target": "http://127.0.0.1:8899/", "signing_secret": "${signing_secret}"}`
  const california = `{"label": "Southern California", "lat": 33.9, "lon": -117.5, "radius_km": 300, "min_severity": 15}`
  const alaska = `{"label": "Alaska", "lat": 62, "lon": -150, "min_severity": 20, "polygon": {"type": "Polygon", "coordinates": [[[-170, 51], [-130, 51], [-130, 72], [-170, 72], [-170, 51]]]}}`
  return `  See an alert arrive. In a second terminal, a receiver that checks every signature:

    npm run receiver -- --secret ${signing_secret}

  In a third one, a channel to it, two zones, and a minute later the alerts:

    KEY=${minted?.api_key ?? 'wp_live_…'}
    API=${url}/api/v1
    curl -s $API/channels ${HEADERS} \\
      -d '${channel}'
    curl -s $API/zones ${HEADERS} \\
      -d '${california}'
    curl -s $API/zones ${HEADERS} \\
      -d '${alaska}'
    curl -s "$API/alerts?limit=5" -H "Authorization: Bearer $KEY"
`
}
