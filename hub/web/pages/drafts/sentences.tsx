import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, Sparkles, UserCheck } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Time } from '../../../../web/ui/time.tsx'
import { api, ok } from '../../api/client.ts'
import { Source } from '../../source.tsx'
import { EvidenceDialog } from './evidence-dialog.tsx'
import { type Detailed, isProven, refreshDrafts, type Sentence } from './queries.ts'
import { sentencesText } from './sentences.text.ts'

type Props = { detailed: Detailed; marked: number | undefined; isReadOnly: boolean }

/**
 * Each sentence that states something, with its evidence or what a person can do about it; those
 * that hold the draft back come first.
 */
export function Sentences({ detailed, marked, isReadOnly }: Props) {
  const text = useText(sentencesText)
  const { draft, sentences } = detailed
  const [proving, setProving] = useState<string>()
  const order = sentences
    .map((sentence, at) => ({ sentence, at }))
    .filter(({ sentence }) => sentence.verdict !== 'harmless')
    .sort((a, b) => rank(a.sentence) - rank(b.sentence) || a.at - b.at)
  const harmless = sentences.length - order.length
  const isAsking = order.some(({ sentence }) => sentence.verdict === 'unsure' && !sentence.stand)
  const ask = useChange(draft, (body) => ok(api.POST('/api/cockpit/draft/judge', { body })))
  return (
    <section aria-labelledby="sentences">
      <div className="mb-2 flex items-center gap-2">
        <h3 id="sentences" className="flex-1 text-sm text-muted">
          {text.sentences}
        </h3>
        {isAsking && !isReadOnly ? (
          <Button
            size="sm"
            variant="ghost"
            icon={<Sparkles size={14} aria-hidden />}
            isPending={ask.isPending}
            onClick={() => ask.mutate()}
          >
            {text.ask}
          </Button>
        ) : null}
      </div>
      {order.length === 0 ? <p className="text-muted text-pretty">{text.none}</p> : null}
      <ol className="flex flex-col gap-2">
        {order.map(({ sentence, at }) => (
          <Row
            key={at}
            sentence={sentence}
            draft={draft}
            isMarked={marked === at}
            isReadOnly={isReadOnly}
            onProve={() => setProving(sentence.sentence)}
          />
        ))}
      </ol>
      {harmless > 0 ? <p className="mt-2 text-sm text-muted">{text.harmless(harmless)}</p> : null}
      <EvidenceDialog draft={draft} sentence={proving} onClose={() => setProving(undefined)} />
    </section>
  )
}

/** What holds the draft back comes first, and what the evidence denies before the rest. */
function rank(sentence: Sentence): number {
  if (isProven(sentence)) return sentence.stand ? 2 : 3
  return sentence.verdict === 'contradicted' ? 0 : 1
}

/** A change of a draft that its page shows at once. */
function useChange<T = void>(
  draft: Detailed['draft'],
  change: (body: { id: string; project: string }, given: T) => Promise<unknown>,
) {
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: (given: T) => change({ id: draft.id, project: draft.project }, given),
    onError: say,
    onSettled: () => refreshDrafts(queryClient),
  })
}

/** States in which a person can still stand for a sentence. */
const BEFORE_APPROVAL: Detailed['draft']['state'][] = ['draft', 'rendered', 'failed', 'rejected']

function Row({
  sentence,
  draft,
  isMarked,
  isReadOnly,
  onProve,
}: {
  sentence: Sentence
  draft: Detailed['draft']
  isMarked: boolean
  isReadOnly: boolean
  onProve: () => void
}) {
  const text = useText(sentencesText)
  const ref = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isMarked) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [isMarked])
  const stand = useChange<boolean>(draft, (body, stands) =>
    ok(
      api.POST('/api/cockpit/draft/stand', {
        body: { ...body, sentence: sentence.sentence, stands },
      }),
    ),
  )
  const isOpen = isProven(sentence)
  const isDenied = sentence.verdict === 'contradicted'
  const Icon = sentence.stand ? UserCheck : isOpen ? CircleCheck : CircleAlert
  const tone = isOpen && !isDenied ? 'text-good' : isOpen ? 'text-warn' : 'text-bad'
  const canStand = !isReadOnly && BEFORE_APPROVAL.includes(draft.state)
  return (
    <li
      ref={ref}
      className={cn(
        'rounded-panel border p-3',
        isOpen ? 'border-line' : 'border-bad/50',
        isMarked && (isOpen ? 'bg-good/10' : 'bg-bad/10'),
      )}
    >
      <p className="flex gap-2">
        <Icon size={16} aria-hidden className={cn('mt-1 shrink-0', tone)} />
        <span lang={draft.language} className="min-w-0 font-mail text-lg break-words">
          {sentence.sentence}
        </span>
      </p>
      <div className="mt-1 flex flex-col gap-1 pl-6 text-sm">
        <p className={cn('text-pretty', isOpen && !isDenied ? 'text-muted' : 'text-bad')}>
          {text.verdicts[sentence.verdict]}
          {sentence.fails > 0
            ? ` ${text.fails(sentence.fails_for.map(({ name }) => name).join(', '), sentence.fails)}`
            : null}
        </p>
        {sentence.hint ? (
          <p className="text-muted text-pretty">
            {text.hints[sentence.hint.verdict]}
            {sentence.hint.quote ? ` “${sentence.hint.quote}”` : null}
          </p>
        ) : null}
        {sentence.stand ? (
          <p className="font-medium">
            {sentence.stand.name
              ? text.stood_by(sentence.stand.name)
              : text.stood[sentence.stand.by]}{' '}
            <Time at={sentence.stand.at} />
          </p>
        ) : null}
      </div>
      {sentence.evidence.map((row) => (
        <div key={row.id} className="mt-2 pl-6 text-sm">
          <p className="break-words">{row.fact}</p>
          {row.quote ? (
            <blockquote className="mt-1 border-l-2 border-line pl-2 text-muted break-words">
              {row.quote}
            </blockquote>
          ) : null}
          <p className="mt-1 text-muted">
            <Source source={row.source} />
          </p>
        </div>
      ))}
      {canStand && sentence.verdict !== 'supported' ? (
        <div className="mt-2 flex flex-wrap gap-2 pl-6">
          {sentence.stand ? (
            <Button
              size="sm"
              variant="ghost"
              isPending={stand.isPending}
              onClick={() => stand.mutate(false)}
            >
              {text.withdraw}
            </Button>
          ) : (
            <>
              <Button size="sm" onClick={onProve}>
                {text.add}
              </Button>
              <Button
                size="sm"
                variant="ghost"
                isPending={stand.isPending}
                onClick={() => stand.mutate(true)}
              >
                {isDenied ? text.stand_against : text.stand}
              </Button>
            </>
          )}
        </div>
      ) : null}
    </li>
  )
}
