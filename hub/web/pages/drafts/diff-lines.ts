import { parsePatch } from 'diff'

/** A line of a diff; `other` is the line it replaces or is replaced by. */
export type Line = { kind: ' ' | '+' | '-'; text: string; other?: string }

/** The lines of a unified diff; a changed line refers to its counterpart. */
export function linesOf(patch: string): Line[][] {
  return parsePatch(patch)
    .flatMap(({ hunks }) => hunks)
    .map(({ lines }) => {
      const all = lines
        .filter((line) => !line.startsWith('\\'))
        .map((line): Line => {
          const [first = ' '] = line
          const kind = first === '+' || first === '-' ? first : ' '
          return { kind, text: line.slice(1) }
        })
      for (let at = 0; at < all.length; at++) {
        const removed = runFrom(all, at, '-')
        if (removed.length === 0) continue
        const added = runFrom(all, at + removed.length, '+')
        for (const [nth, line] of removed.entries()) pair(line, added[nth])
        at += removed.length + added.length - 1
      }
      return all
    })
}

function runFrom(lines: Line[], from: number, kind: Line['kind']): Line[] {
  const end = lines.findIndex((line, at) => at >= from && line.kind !== kind)
  return lines.slice(from, end === -1 ? undefined : end)
}

function pair(removed: Line, added: Line | undefined): void {
  if (!added) return
  removed.other = added.text
  added.other = removed.text
}
