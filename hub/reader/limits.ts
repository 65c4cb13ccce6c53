const KIB = 1024
const MIB = 1024 * KIB

/** What reading may cost. Sites choose what they send; these say how much of it is taken. */
export const LIMITS = {
  /** Bytes of one answer, after decompression. A document or robots.txt is read up to there. */
  document: 4 * MIB,
  script: 4 * MIB,
  stylesheet: 2 * MIB,
  fetch: 2 * MIB,
  /** RFC 9309 asks for at least 500 KiB; what comes behind is ignored. */
  robots: 500 * KIB,
  /** Bytes of one page with all it loads, and of a mission. */
  page: 16 * MIB,
  mission: 96 * MIB,
  /** Requests for one page, redirects counted, and redirects of one request. */
  requests: 80,
  redirects: 5,
  request_ms: 15_000,
  /** One page, from the browser's start to its words. */
  page_ms: 75_000,
  /** The longest pause that a Crawl-delay gets. */
  pause_ms: 20_000,
} as const
export type Limits = { [K in keyof typeof LIMITS]: number }
