import { diffWordsWithSpace } from 'diff'
import { cn } from '../../../../web/ui/class-names.ts'
import { type Line, linesOf } from './diff-lines.ts'

/** Shows a unified diff: removed words are struck through, new ones marked. */
export function DiffView({ patch, isMail = false }: { patch: string; isMail?: boolean }) {
  return (
    <div
      className={cn(
        'flex flex-col gap-3 text-base break-words',
        isMail ? 'font-mail text-lg' : 'font-mono text-sm',
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
