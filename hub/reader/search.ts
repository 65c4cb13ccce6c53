import { request } from 'undici'
import { z } from 'zod'
import { bilingual, type Language, type Words } from '../i18n/words.ts'
import { type OutsideOptions, outside } from '../outside.ts'
import { ENCODINGS, readBody } from './body.ts'
import { searchText } from './search.text.ts'

const say = bilingual(searchText)

/** One result: where it is, and what the search engine says of it. */
export type SearchResult = { url: string; title: string; content: string }
/** The results of a query, or why there are none. */
export type Searching = { results: SearchResult[] } | { refused: Words }

const TIMEOUT_MS = 20_000
const MAX_BYTES = 2_000_000
const MAX_RESULTS = 10

/** What SearXNG answers (docs.searxng.org, Search API); other fields are not read. */
const Answer = z.object({
  results: z.array(
    z.object({
      url: z.string(),
      title: z.string().nullish(),
      content: z.string().nullish(),
    }),
  ),
})

/**
 * searchWeb asks the endpoint that the owner named, in the way of SearXNG: `GET /search?format=json`.
 * That endpoint may be in the local network; it may not redirect.
 */
export async function searchWeb(given: {
  endpoint: string
  query: string
  language: Language
  signal: AbortSignal
  outside?: OutsideOptions
}): Promise<Searching> {
  const { endpoint, query, language, signal } = given
  const url = new URL(endpoint)
  const base = url.pathname.replace(/\/(?:search\/?)?$/, '')
  url.pathname = `${base}/search`
  for (const [name, value] of Object.entries({ q: query, format: 'json', language })) {
    url.searchParams.set(name, value)
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const dispatcher = outside({ ...given.outside, named: host })
  try {
    const response = await request(url, {
      dispatcher,
      headers: { accept: 'application/json', 'accept-encoding': ENCODINGS },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    const encoding = String(response.headers['content-encoding'] ?? '')
    const { bytes, is_cut } = await readBody(response.body, encoding, MAX_BYTES)
    if (response.statusCode === 403) return { refused: say.no_json(host) }
    if (response.statusCode !== 200) return { refused: say.refused(host, response.statusCode) }
    if (is_cut) return { refused: say.too_long(host) }
    const parsed = Answer.safeParse(jsonOf(bytes.toString('utf8')))
    if (!parsed.success) return { refused: say.not_understood(host) }
    return { results: usable(parsed.data.results) }
  } catch {
    signal.throwIfAborted()
    return { refused: say.unreachable(host) }
  } finally {
    await dispatcher.close()
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Results with an address of the web, each address once. */
function usable(results: z.infer<typeof Answer>['results']): SearchResult[] {
  const known = new Set<string>()
  return results
    .flatMap(({ url, title, content }) => {
      if (!URL.canParse(url) || known.has(url)) return []
      const { protocol } = new URL(url)
      if (protocol !== 'https:' && protocol !== 'http:') return []
      known.add(url)
      return [{ url, title: even(title, 300), content: even(content, 1000) }]
    })
    .slice(0, MAX_RESULTS)
}

const even = (text: string | null | undefined, length: number) =>
  (text ?? '').replace(/\s+/g, ' ').trim().slice(0, length)
