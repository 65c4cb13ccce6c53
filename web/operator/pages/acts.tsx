import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import type { OperatorAct } from '../../../shared/schemas/operator.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { useText } from '../../ui/language.ts'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { More } from '../../ui/lists/more.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { pagesQuery } from '../api.ts'
import { operatorText } from '../operator.text.ts'

/** What operators did, here and by commands. */
export function ActsPage() {
  const text = useText(operatorText)
  const found = useInfiniteQuery(pagesQuery<'acts', OperatorAct>('acts', {}))
  if (found.isPending) return <SkeletonRows />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const acts = found.data.pages.flatMap((page) => page.acts)
  return (
    <>
      {acts.length === 0 ? (
        <Empty
          picture={<ScrollText size={24} strokeWidth={1.5} aria-hidden />}
          title={text.no_acts}
          text={text.no_acts_text}
        />
      ) : null}
      <ul>
        {acts.map((act) => (
          <ActLine key={act.id} act={act} />
        ))}
      </ul>
      <More query={found} className="p-0" />
    </>
  )
}

function ActLine({ act }: { act: OperatorAct }) {
  const text = useText(operatorText)
  const hasDetails = Object.keys(act.details).length > 0
  return (
    <li className="flex flex-col gap-1 border-t border-line py-2.5">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <code className="font-medium">{act.action}</code>
        <code className="min-w-0 flex-1 font-sans break-all text-muted">
          {act.email ?? act.target_id ?? ''}
        </code>
        <Time at={act.at} className="text-sm text-muted" />
      </div>
      <FactsLine>
        <code className="font-sans">{act.operator}</code>
        {text.via[act.via]}
        {hasDetails ? (
          <code className="text-xs break-all">{JSON.stringify(act.details)}</code>
        ) : null}
      </FactsLine>
    </li>
  )
}
