const KIB = 1024
const MIB = 1024 * KIB

/** What reading a page may cost. Sites choose what they send; this is how much of it is read. */
export const LIMITS = {
  /** Bytes of one answer, after decompression. A document or robots.txt is cut there. */
  document: 4 * MIB,
  script: 4 * MIB,
  stylesheet: 2 * MIB,
  fetch: 2 * MIB,
  /** RFC 9309 asks for at least 500 KiB; the rest is ignored. */
  robots: 500 * KIB,
  /** Bytes of one page with everything it loads, and of a mission. */
  page: 16 * MIB,
  mission: 96 * MIB,
  /** Requests per page, including redirects, and redirects per request. */
  requests: 80,
  redirects: 5,
  request_ms: 15_000,
  /** One page, from the start of the browser to its text. */
  page_ms: 75_000,
  /** The longest Crawl-delay that is respected in full. */
  pause_ms: 20_000,
} as const
export type Limits = { [K in keyof typeof LIMITS]: number }
