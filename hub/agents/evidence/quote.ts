/** Whether a quote occurs in a text, ignoring spaces and case. */
export function stands(text: string, quote: string): boolean {
  const even = (words: string) => words.replace(/\s+/g, ' ').trim().toLowerCase()
  return even(quote).length >= 8 && even(text).includes(even(quote))
}
