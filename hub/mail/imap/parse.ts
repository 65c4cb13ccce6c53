import PostalMime, { type Email, type PostalMimeOptions } from 'postal-mime'

/**
 * Lines of a mail that are parsed. The parser takes time with the square of their number; 10,000 take
 * some 50 ms, and the first 100 kB of a mail that a person writes have some 3,000.
 */
const MAX_LINES = 10_000
const NEWLINE = 0x0a

/** parseMail parses a mail, or the beginning of one with very many lines; the mail is null if it is none. */
export async function parseMail(
  source: Uint8Array,
  options: PostalMimeOptions = {},
): Promise<{ email: Email | null; is_cut: boolean }> {
  let end = 0
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    const at = source.indexOf(NEWLINE, end)
    if (at === -1) {
      end = source.length
      break
    }
    end = at + 1
  }
  const email = await PostalMime.parse(source.subarray(0, end), {
    ...options,
    maxNestingDepth: 20,
  }).catch(() => null)
  return { email, is_cut: end < source.length }
}
