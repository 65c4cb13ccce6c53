import { useInfiniteQuery } from '@tanstack/react-query'
import { ListOrdered, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { type Sequence, sequencesQuery } from './queries.ts'
import { SequenceDetail } from './sequence-detail.tsx'
import { SequenceForm } from './sequence-form.tsx'
import { SequenceState } from './sequence-state.tsx'
import { sequencesText } from './sequences.text.ts'

/** The sequences of a project, and one of them. */
export function Sequences() {
  const text = useText(sequencesText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const [search, setSearch] = useSearchParams()
  const open = search.get('sequence')
  const [isAdding, setAdding] = useState(false)
  const query = useInfiniteQuery(sequencesQuery(slug))
  const sequences = query.data?.pages.flatMap((page) => page.sequences) ?? []
  const show = (id: string) => setSearch({ sequence: id })
  const add = (
    <Button
      variant={sequences.length > 0 ? 'secondary' : 'primary'}
      icon={<Plus size={16} aria-hidden />}
      onClick={() => setAdding(true)}
    >
      {text.add}
    </Button>
  )
  return (
    <Page title={text.title} actions={isReadOnly ? null : add}>
      <div className="flex h-full min-h-0">
        <div
          className={cn(
            'min-h-0 w-full shrink-0 overflow-y-auto border-line md:w-80 md:border-r',
            open && 'max-md:hidden',
            sequences.length === 0 && !query.isPending && !open && 'md:w-full md:border-0',
          )}
        >
          {query.isPending ? (
            <SkeletonRows rows={8} />
          ) : hasFailed(query) ? (
            <FailedQuery error={query.error} onRetry={() => query.refetch()} />
          ) : sequences.length > 0 ? (
            <>
              <List sequences={sequences} open={open} />
              <More query={query} />
            </>
          ) : (
            <Empty
              picture={<ListOrdered size={24} strokeWidth={1.5} aria-hidden />}
              title={text.empty.title}
              text={text.empty.text}
              action={isReadOnly ? undefined : add}
            />
          )}
        </div>
        {open ? (
          <SequenceDetail key={open} id={open} isReadOnly={isReadOnly} />
        ) : sequences.length > 0 ? (
          <div className="flex flex-1 items-center justify-center max-md:hidden">
            <Empty
              picture={<ListOrdered size={24} strokeWidth={1.5} aria-hidden />}
              title={text.choose.title}
              text={text.choose.text}
            />
          </div>
        ) : null}
      </div>
      <SequenceForm
        sequence={null}
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        onSaved={show}
      />
    </Page>
  )
}

function List({ sequences, open }: { sequences: Sequence[]; open: string | null }) {
  const text = useText(sequencesText)
  return (
    <ul aria-label={text.list}>
      {sequences.map(({ id, project, name, state, steps, people, updated_at }) => (
        <li key={id} className="border-b border-line">
          <Link
            href={`/p/${project}/sequences?sequence=${id}`}
            aria-current={id === open ? 'true' : undefined}
            className={cn(
              'flex flex-col gap-1 px-4 py-3 -outline-offset-2 md:px-5',
              id === open ? 'bg-surface shadow-[inset_2px_0_0_var(--accent)]' : 'hover:bg-hover',
            )}
          >
            <span className="flex items-baseline gap-3">
              <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
              <Time at={updated_at} className="shrink-0 text-xs text-muted" />
            </span>
            <span className="mt-0.5 flex min-w-0 items-center gap-2 text-xs text-muted">
              <SequenceState state={state} />
              <span className="truncate">
                {text.steps(steps.length)}
                {people.active > 0 ? ` · ${text.people_in(people.active)}` : null}
              </span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
