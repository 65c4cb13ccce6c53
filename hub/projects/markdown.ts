/** Builds Markdown documents. Every text from a lead, the web or a model goes through `plain`. */

/**
 * plain returns the text on one line and without any character that is special in Markdown or HTML.
 */
export function plain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>|#~]/g, '\\$&')
    .replace(/&(?=[a-z#])/gi, '\\&')
    .replace(/^[-+=](?=\s|$|[-=])/, '\\$&')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2')
}

export const heading = (level: 1 | 2 | 3, text: string) => `${'#'.repeat(level)} ${plain(text)}`

export const list = (items: string[]) => items.map((item) => `- ${plain(item)}`).join('\n')

export const numbered = (items: string[]) =>
  items.map((item, index) => `${index + 1}. ${plain(item)}`).join('\n')

export const tasks = (items: { text: string; is_done: boolean }[]) =>
  items.map(({ text, is_done }) => `- [${is_done ? 'x' : ' '}] ${plain(text)}`).join('\n')

export const quote = (text: string) => `> ${plain(text)}`

/** `right` lists the columns whose numbers are aligned to the right. */
export function table(columns: string[], rows: unknown[][], right: number[] = []): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const marks = columns.map((_, index) => (right.includes(index) ? '---:' : '---'))
  return [
    line(columns.map(plain)),
    line(marks),
    ...rows.map((row) => line(row.map((cell) => plain(String(cell ?? ''))))),
  ].join('\n')
}

/** fenced shows a text as it is; the fence is longer than any in the text. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${language}\n${text}\n${ticks}`
}

/** joined puts blocks below each other and leaves out empty ones. */
export function joined(...blocks: (string | false | undefined)[]): string {
  return `${blocks.filter((block) => block).join('\n\n')}\n`
}
