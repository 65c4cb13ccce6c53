/** Characters of one note, and of the quotation of a fact. */
export const MAX_NOTE = 10_000
export const MAX_QUOTE = 20_000
/** Characters of notes that one row of a list can bring; more is most often a missing quotation mark. */
export const MAX_ROW_NOTE = 100_000

const HALF_CHARACTER = /[\uD800-\uDBFF]$/

/** shorten returns a text as it is, or the beginning of one that is too long, with three dots. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(HALF_CHARACTER, '')}…`
}

/** notesOf divides a text into as many notes as it needs, between paragraphs or words where it can. */
export function notesOf(text: string): string[] {
  const notes: string[] = []
  let rest = text.trim()
  while (rest.length > MAX_NOTE) {
    const whole = rest.slice(0, MAX_NOTE).replace(HALF_CHARACTER, '')
    const border = ['\n\n', '\n', ' ']
      .map((one) => whole.lastIndexOf(one))
      .find((at) => at > MAX_NOTE / 2)
    const note = whole.slice(0, border)
    notes.push(note.trimEnd())
    rest = rest.slice(note.length).trimStart()
  }
  return rest ? [...notes, rest] : notes
}
