import { CircleAlert, CircleCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Source } from '../../source.tsx'
import { gatesText } from './gates.text.ts'
import type { Draft } from './queries.ts'

/** Each factual sentence with its evidence; sentences without evidence come first. */
export function Claims({ draft, marked }: { draft: Draft; marked: number | undefined }) {
  const text = useText(gatesText)
  const order = draft.claims
    .map((claim, at) => ({ claim, at }))
    .sort((a, b) => Number(a.claim.supported) - Number(b.claim.supported) || a.at - b.at)
  return (
    <section aria-labelledby="claims">
      <h3 id="claims" className="mb-2 text-sm text-muted">
        {text.claims}
      </h3>
      {order.length === 0 ? <p className="text-muted text-pretty">{text.no_claims}</p> : null}
      <ol className="flex flex-col gap-2">
        {order.map(({ claim, at }) => (
          <Claim key={at} claim={claim} draft={draft} isMarked={marked === at} />
        ))}
      </ol>
    </section>
  )
}

function Claim({
  claim,
  draft,
  isMarked,
}: {
  claim: Draft['claims'][number]
  draft: Draft
  isMarked: boolean
}) {
  const text = useText(gatesText)
  const ref = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isMarked) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [isMarked])
  const evidence = draft.evidence.filter(({ id }) => claim.evidence_ids.includes(id))
  const Icon = claim.supported ? CircleCheck : CircleAlert
  return (
    <li
      ref={ref}
      className={cn(
        'rounded-panel border p-3',
        claim.supported ? 'border-line' : 'border-bad/50',
        isMarked && (claim.supported ? 'bg-good/10' : 'bg-bad/10'),
      )}
    >
      <p className="flex gap-2">
        <Icon
          size={16}
          aria-label={claim.supported ? text.supported : text.unsupported}
          className={cn('mt-1 shrink-0', claim.supported ? 'text-good' : 'text-bad')}
        />
        <span className="min-w-0 font-letter text-lg break-words">{claim.sentence}</span>
      </p>
      {claim.supported ? null : (
        <p className="mt-1 pl-6 text-sm text-bad">
          {claim.reason ?? <>{text.unsupported}.</>} {text.unsupported_text}
        </p>
      )}
      {evidence.map((row) => (
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
    </li>
  )
}
