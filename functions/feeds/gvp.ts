import { z } from 'zod'
import {
  type Content,
  type Feed,
  type FeedResult,
  feedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  reject,
  toEvent,
} from './feed.ts'
import { fetchText } from './fetch.ts'
import { instantOfRfc822 } from './formats/times.ts'
import { childOf, childrenOf, parseXml, textOf, type XmlElement } from './formats/xml.ts'

const REPORT = 'https://volcano.si.edu/news/WeeklyVolcanoRSS.xml'
const INTERVAL_SECONDS = 6 * 60 * 60
const MONTHS =
  'january february march april may june july august september october november december'.split(' ')

/** By the end of a title. */
const SEVERITIES: [suffix: RegExp, severity: number][] = [
  [/new eruptive activity$/i, 60],
  [/continuing eruptive activity$/i, 40],
  [/new unrest$/i, 40],
  [/continuing unrest$/i, 30],
]
const OTHER_SEVERITY = 30

const State = z.object({ etag: z.string().optional(), last_modified: z.string().optional() })

/** The weekly report of volcanic activity by the Smithsonian Institution and the USGS. */
export const gvp: Feed = {
  source: 'gvp',
  title: 'Smithsonian volcanic activity',
  attribution:
    'Global Volcanism Program, Smithsonian Institution / USGS Weekly Volcanic Activity Report (preliminary)',
  types: ['volcano'],
  ceilings: { volcano: 60 },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise,
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch({}).parse(input.state)
  const fetched = await fetchText(REPORT, {
    ...input,
    accept: 'application/rss+xml, application/xml',
    validators: state,
  })
  if (fetched.not_modified) {
    return { events: [], state: input.state, not_modified: true, rejected: [] }
  }
  return { ...normalise(fetched.text), state: { ...fetched.validators }, not_modified: false }
}

function normalise(text: string): Content {
  const channel = childOf(parseXml(text), 'channel')
  if (!channel) throw feedError('unreadable', 'answered with XML that is not an RSS feed')
  return normaliseEach(childrenOf(channel, 'item'), readItem)
}

function readItem(item: XmlElement, position: string): Normalised {
  const guid = textOf(item, 'guid') ?? ''
  const number = /#vn_(\d{6})$/.exec(guid)?.[1]
  if (!number) return reject(position, 'guid: does not end in the number of a volcano')
  const title = textOf(item, 'title')
  if (!title) return reject(number, 'title: is missing')
  const published = instantOfRfc822(textOf(item, 'pubDate') ?? '')
  const day = /^(\d{4})-(\d\d)-(\d\d)T/.exec(published)
  if (!day) return reject(number, 'pubDate: is missing or no time')
  const place = /^(-?\d+(?:\.\d+)?)[\s,]+(-?\d+(?:\.\d+)?)$/.exec(
    textOf(item, 'georss:point') ?? '',
  )
  if (!place) return reject(number, 'georss:point: is missing or no place')
  return toEvent(
    {
      id: `gvp:${number}:${day[1]}${day[2]}${day[3]}`,
      source: 'gvp',
      type: 'volcano',
      title,
      lat: Number(place[1]),
      lon: Number(place[2]),
      ts: endOfReport(title, published) ?? published,
      severity: SEVERITIES.find(([suffix]) => suffix.test(title))?.[1] ?? OTHER_SEVERITY,
      subject: `volcano:${number}`,
      url: /^https?:/.test(guid) ? guid : (textOf(item, 'link') ?? null),
      revised_at: published,
    },
    number,
  )
}

/**
 * The end of `Report for 10 September-16 September 2026`, or of `10-16 September 2026`: the end of that day, or
 * when the report was published if that is earlier; null if the title has none.
 */
function endOfReport(title: string, published: string): string | null {
  const read = /report for .*?[-–]\s*(\d{1,2})\s+([a-z]+)\s+(\d{4})/i.exec(title)
  if (!read) return null
  const month = MONTHS.indexOf(read[2]?.toLowerCase() ?? '')
  const [day, year] = [Number(read[1]), Number(read[3])]
  const end = new Date(Date.UTC(year, month, day, 23, 59, 59))
  if (month < 0 || end.getUTCDate() !== day) return null
  return new Date(Math.min(end.getTime(), Date.parse(published))).toISOString()
}
