import robotsParser from 'robots-parser'
import { AGENT } from './browser.ts'
import { LIMITS } from './limits.ts'

// safe: a CommonJS function, which its types say is a default export
const parseRobots = robotsParser as unknown as typeof robotsParser.default

/**
 * Steps of matching one address against the rules of a site; if it would take more, the site is not
 * read.
 */
const MAX_MATCH_STEPS = 20_000_000

/**
 * Whether a page may be read; `unknown`: its robots.txt cannot be read, so the page must not be
 * either.
 */
type Verdict = 'yes' | 'no' | 'unknown'
export type Rules = { judge: (url: string) => Verdict; pause_ms: number }

export const EVERYTHING: Rules = { judge: () => 'yes', pause_ms: 0 }
export const UNREAD: Rules = { judge: () => 'unknown', pause_ms: 0 }

/** rulesOf parses a robots.txt. */
export function rulesOf(address: string, text: string): Rules {
  const { ours, wild } = ourGroups(text)
  const parsed = parseRobots(address, ours)
  const delay = (parsed.getCrawlDelay(AGENT) ?? 0) * 1000
  return {
    judge: (url) => {
      if (wild * url.length > MAX_MATCH_STEPS) return 'unknown'
      return parsed.isAllowed(url, AGENT) === false ? 'no' : 'yes'
    },
    pause_ms: Number.isFinite(delay) ? Math.min(Math.max(delay, 0), LIMITS.pause_ms) : 0,
  }
}

/**
 * The groups for us or for everybody, and the number of characters of their rules with an asterisk.
 * The parser stores every rule once for each name above it, which thousands of names and rules turn
 * into more memory than a machine has. It matches an asterisk in as many steps as the length of the
 * pattern times that of the address.
 */
function ourGroups(text: string): { ours: string; wild: number } {
  const kept: string[] = []
  let wild = 0
  let names = new Set<string>()
  let isOpen = true
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, field = '', given = ''] = /^\s*([\w-]+)\s*:([^#]*)/.exec(line) ?? []
    const value = given.trim()
    if (field.toLowerCase() === 'user-agent') {
      if (!isOpen) names = new Set()
      isOpen = true
      const name = value.toLowerCase().replace(/\/.*/, '')
      if (name === AGENT.toLowerCase() || name === '*') names.add(name)
    }
    if (!/^(disallow|allow|crawl-delay)$/i.test(field)) continue
    isOpen = false
    for (const name of names) {
      kept.push(`User-agent: ${name}`, `${field}: ${value}`)
      if (value.includes('*')) wild += value.length
    }
  }
  return { ours: kept.join('\n'), wild }
}
