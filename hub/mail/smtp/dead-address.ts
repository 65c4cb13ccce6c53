/** X.1.7 and X.1.8 speak of the sender's address; a server may look at it only after RCPT TO (RFC 3463). */
const OF_SENDER = /^5\.1\.[78]$/
/** Of a report: what may pass or is about the mail, not about the address: full, too long, relayed too late, policy. */
const OF_MAIL = /^5\.(2\.[234]|3\.\d+|4\.[56789]|6\.\d+|7\.\d+)$/
/** Words of a refusal without a status that is not about the recipient. */
const OF_OTHERS =
  /\b(relay\w*|authenticat\w*|sender|spam|block\w*|black ?list\w*|polic\w+|reputation|denied)\b/i

/**
 * refusesAddress tells whether a refusal of a recipient says that the address does not exist: 5.1.x and
 * 5.2.1 do; 5.7.x means only that our mail is not wanted.
 */
export function refusesAddress(answer: string): boolean {
  const status = /\b5\.\d{1,3}\.\d{1,3}\b/.exec(answer)?.[0]
  if (status) return /^5\.(1\.\d+|2\.1)$/.test(status) && !OF_SENDER.test(status)
  return /^55[013]\b/.test(answer) && !OF_OTHERS.test(answer)
}

/**
 * endsAddress tells the same of a status in a report. Servers write 5.0.0 or 5.4.x for addresses and
 * domains that do not exist.
 */
export function endsAddress(status: string): boolean {
  return status.startsWith('5.') && !OF_SENDER.test(status) && !OF_MAIL.test(status)
}
