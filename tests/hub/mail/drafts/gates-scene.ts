import type { Person, Skip } from '../../../../hub/mail/drafts/audience.ts'
import type { Gate } from '../../../../hub/mail/drafts/gates.ts'
import type { JudgedSentence } from '../../../../hub/mail/drafts/judged.ts'

export const person = (skip: Skip | null): Person => ({
  lead_id: crypto.randomUUID(),
  email: 'jo@client.example',
  name: null,
  company: null,
  own: {},
  empty: [],
  skip,
})

export const PUBLIC = 'https://hub.demir.example'
export const TODAY = {
  cap: 200,
  used: 3,
  left: 197,
  sent: 50,
  hard_bounces: 2,
  complaints: 1,
  alarm: null,
  senders: new Map([['ada@demir.example', { used: 30, days: 2 }]]),
}

export const LISTMONK = { url: 'http://127.0.0.1:9', user: 'hub', token: 'secret' }
export const NO_SENDER = { sender_name: null, sender_email: null }

/** A sentence of which the judge is not sure. */
export const judged = (sentence: string): JudgedSentence => ({
  sentence,
  verdict: 'unsure',
  evidence_ids: [],
  fails: 0,
  fails_for: [],
  opinion: null,
  basis: '0'.repeat(64),
  stand: null,
})
export const shown = ({ name, ok, blocks, detail, way_out }: Gate) =>
  `${ok ? 'open' : blocks ? 'shut' : 'advice'} ${name}: ${detail.en}${way_out ? ` ${way_out.en}` : ''}`
