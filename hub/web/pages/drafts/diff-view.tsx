import { diffWordsWithSpace, parsePatch } from 'diff'
import { cn } from '../../../../web/ui/class-names.ts'

type Line = { kind: ' ' | '+' | '-'; text: string; other?: string }

/** The lines of a unified diff; a line that was changed knows the one it stands against. */
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

/** A unified diff to read: what went is struck, what came is marked, word by word. */
export function DiffView({ patch, isLetter = false }: { patch: string; isLetter?: boolean }) {
  return (
    <div
      className={cn(
        'flex flex-col gap-3 text-base break-words',
        isLetter ? 'font-letter text-lg' : 'font-mono text-sm',
      )}
    >
      {linesOf(patch).map((lines, hunk) => (
        <div
          key={hunk}
          className="overflow-hidden rounded-panel border border-line bg-surface py-2"
        >
          {lines.map((line, at) => (
            <Row key={at} {...line} />
          ))}
        </div>
      ))}
    </div>
  )
}

function Row({ kind, text, other }: Line) {
  const look = {
    ' ': 'text-muted',
    '+': 'bg-good/10',
    '-': 'bg-bad/10',
  }[kind]
  const Tag = kind === '+' ? 'ins' : kind === '-' ? 'del' : 'p'
  return (
    <Tag className={cn('grid grid-cols-[2rem_minmax(0,1fr)] pr-4 no-underline', look)}>
      <span
        aria-hidden
        className={cn(
          'text-center font-mono text-sm select-none',
          kind === '+' ? 'text-good' : kind === '-' ? 'text-bad' : 'text-muted',
        )}
      >
        {kind === ' ' ? '' : kind === '-' ? '−' : kind}
      </span>
      <span className="whitespace-pre-wrap">
        {other === undefined || kind === ' ' ? text || ' ' : <Words {...{ kind, text, other }} />}
      </span>
    </Tag>
  )
}

function Words({ kind, text, other }: { kind: '+' | '-'; text: string; other: string }) {
  const [before, after] = kind === '+' ? [other, text] : [text, other]
  return diffWordsWithSpace(before, after)
    .filter(({ added, removed }) => (kind === '+' ? !removed : !added))
    .map(({ value, added, removed }, at) => (
      <span
        key={at}
        className={cn(
          added && 'rounded-[3px] bg-good/25 font-medium',
          removed && 'rounded-[3px] bg-bad/25 line-through',
        )}
      >
        {value}
      </span>
    ))
}
