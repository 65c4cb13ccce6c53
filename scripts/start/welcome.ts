import type { MintedKey } from '../postgres/accounts.ts'

export type Welcome = {
  url: string
  is_replay: boolean
  /**
   * The local account; undefined if people sign up with an issuer, which creates their accounts.
   */
  account: { email: string; plan: string } | undefined
  /** The key, if it was just created. */
  minted: MintedKey | undefined
  /** What opens the console once; undefined where people sign in elsewhere. */
  console_link: string | undefined
  /** For the demo: the labels of the zones that were just created. */
  zones: string[]
  /** Whether Watchpost signs people in itself. */
  is_issuer: boolean
  /** The options that `npm run admin` needs to find this Watchpost. */
  admin_options: string
  /** For the demo: the secret that its webhook is signed with. */
  signing_secret: string
  /** Where the operator page is, with what opens it once where it is a link; undefined where it is off. */
  operator: { url: string; is_link: boolean } | undefined
}

/** welcome returns what `npm start` prints when the service runs: what to open, and what to try. */
export function welcome(given: Welcome): string {
  return [links(given), key(given), given.is_replay ? demo(given) : firstCalls(given)].join('\n')
}

function links({ url, is_replay, console_link, operator, admin_options }: Welcome): string {
  const replay = `
  REPLAY: recorded events are replayed in five minutes, then again every thirty: earthquakes of a week
  of 2018, hurricanes of 2008, fires of 2020 and weather warnings of 2026. The vessels are INVENTED.
  None of these events is live.
`
  const console = console_link
    ? `${console_link}
  (opens once, within the hour)`
    : `${url}/`
  return `${is_replay ? replay : ''}
  The console                 ${console}
  API and its documentation   ${url}/docs
  Status of the sources       ${url}/status
  The same for programs       ${url}/api/sources/health${operator ? operatorPage(operator, admin_options) : ''}`
}

function operatorPage(
  { url, is_link }: { url: string; is_link: boolean },
  options: string,
): string {
  const how = is_link
    ? '(opens once, within 15 minutes; for another link: npm run admin -- operator link'
    : `(this machine only; for a link: npm run admin -- operator link`
  return `
  The operator page           ${url}
  ${how}${options})`
}

function key({ account, minted, is_issuer, admin_options }: Welcome): string {
  if (!account) return issuersPeople(is_issuer, admin_options)
  const link = `npm run admin -- account link --email ${account.email}${admin_options}`
  const signIn = is_issuer ? `\n  A link to sign in           ${link}` : ''
  const mint = `npm run admin -- key mint --email ${account.email} --scopes read,write${admin_options}`
  if (minted) {
    return `  Account                     ${account.email} (${account.plan})
  API key, shown only now     ${minted.api_key}
  Another key                 ${mint}${signIn}
`
  }
  return `  An API key                  ${mint}${signIn}
`
}

function issuersPeople(is_issuer: boolean, admin_options: string): string {
  const admin = (verb: string) => `npm run admin -- ${verb} --email you@example.com`
  const advice = is_issuer
    ? `
  AUTH_ISSUER is not set, so their sessions are not accepted yet. Set it (see docs/accounts.md):
                              AUTH_ISSUER=https://<project>.supabase.co/auth/v1`
    : ''
  return `  Accounts                    none was created: people sign up with the issuer of this database${advice}
  A plan for one of them      ${admin('account plan')} --plan pro${admin_options}
  An API key                  ${admin('key mint')} --scopes read,write${admin_options}
`
}

/** Each call on one line, so that it can be copied, and short enough to read. */
function calls(given: Welcome, lines: string[]): string {
  return `
    API=${given.url}/api/v1
    AUTH="Authorization: Bearer ${given.minted?.api_key ?? 'wp_live_…'}"
    JSON="Content-Type: application/json"
${lines.map((line) => `    curl -sw '\\n' ${line}`).join('\n')}
`
}

const WRITE = '-H "$AUTH" -H "$JSON" -d'
const CALIFORNIA = `{"label": "Southern California", "lat": 33.9, "lon": -117.5, "radius_km": 300, "min_severity": 15}`
const ALASKA = `{"label": "Alaska", "lat": 62, "lon": -150, "min_severity": 20, "polygon": {"type": "Polygon",
      "coordinates": [[[-170, 51], [-130, 51], [-130, 72], [-170, 72], [-170, 51]]]}}`

function firstCalls(given: Welcome): string {
  return `  Try it in another terminal:
${calls(given, [`$API/zones ${WRITE} '${CALIFORNIA}'`, '"$API/events?limit=5" -H "$AUTH"'])}`
}

function demo(given: Welcome): string {
  const channel = `{"kind": "webhook", "target": "http://127.0.0.1:8899/", "signing_secret": "${given.signing_secret}"}`
  return `${ready(given)}  See alerts arrive. In a second terminal, start a receiver that checks every signature:

    npm run receiver -- --secret ${given.signing_secret}

  In a third terminal, create a channel to it and two zones; the first alert comes within a minute or two:
${calls(given, [
  `$API/channels ${WRITE} '${channel}'`,
  `$API/zones ${WRITE} '${CALIFORNIA}'`,
  `$API/zones ${WRITE} '${ALASKA}'`,
  '"$API/alerts?limit=5" -H "$AUTH"',
])}`
}

function ready({ zones }: Welcome): string {
  if (zones.length === 0) return ''
  return `  Zones that are ready, one for each kind of event; their alerts begin within seconds:

${zones.map((label) => `    ${label}`).join('\n')}

`
}
