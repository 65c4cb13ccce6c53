import { z } from 'zod'
import type { Feed, FeedResult, PollInput } from './feed.ts'
import { fetchText } from './fetch.ts'
import { normaliseAircraft } from './formats/aircraft.ts'

const Address = z.url({
  protocol: /^https?$/,
  error: 'must be the http or https address of aircraft.json',
})

/** The aircraft that one's own receiver hears, by readsb, dump1090 or tar1090. */
export const readsb: Feed = {
  source: 'readsb',
  title: 'Own ADS-B receiver',
  attribution: 'Aircraft positions: own receiver',
  types: ['aircraft'],
  interval_seconds: 5,
  settings: { READSB_URL: { schema: Address, is_required: true } },
  poll,
  normalise: (text) => normaliseAircraft('readsb', text),
}

async function poll(input: PollInput): Promise<FeedResult> {
  // No conditional request: the file is written anew every second.
  const fetched = await fetchText(input.settings?.READSB_URL ?? '', {
    ...input,
    accept: 'application/json',
  })
  const text = fetched.not_modified ? '' : fetched.text
  return { ...normaliseAircraft('readsb', text), state: input.state, not_modified: false }
}
