import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Combine } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../../../web/ui/button.tsx'
import { Checkbox } from '../../../../../web/ui/field.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { More } from '../../../../../web/ui/lists/more.tsx'
import { Empty, SkeletonRows } from '../../../../../web/ui/states.tsx'
import { Time } from '../../../../../web/ui/time.tsx'
import { api, ok } from '../../../api/client.ts'
import { useIsReadOnly } from '../../../api/queries.ts'
import { cursorOf, paged } from '../../../paging.ts'
import { useProject } from '../../../project.ts'
import { Page } from '../../../shell/page.tsx'
import { leadsText } from '../leads.text.ts'
import { type Lead, nameOf } from '../queries.ts'
import { StageMark } from '../stage.tsx'
import { mergeText } from './merge.text.ts'
import { MergeDialog } from './merge-dialog.tsx'
import { mergesQuery, UndoMerge, useNameOfSide } from './undo-merge.tsx'

type One = Pick<Lead, 'id' | 'project' | 'name' | 'email' | 'company' | 'stage'>

/** Leads that may be one, to compare two and merge them; and what was merged before. */
export function Duplicates() {
  const text = useText(mergeText)
  const project = useProject()
  const isReadOnly = useIsReadOnly() || project.read_only
  const [chosen, setChosen] = useState<string[]>([])
  const [isMerging, setMerging] = useState(false)
  const query = useInfiniteQuery({
    queryKey: ['duplicates', project.slug],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/leads/duplicates', {
          params: { query: { project: project.slug, limit: 50, ...cursorOf(pageParam) } },
        }),
      ),
    ...paged,
  })
  const groups = query.data?.pages.flatMap((page) => page.duplicates) ?? []
  const [kept, gone] = chosen
  return (
    <Page
      title={text.title}
      isWide={false}
      actions={
        <>
          <Link href={`/p/${project.slug}/leads`} className={buttonClass()}>
            {text.back}
          </Link>
          <Button
            variant="primary"
            disabled={isReadOnly || chosen.length !== 2}
            onClick={() => setMerging(true)}
            icon={<Combine size={16} aria-hidden />}
          >
            {text.compare}
          </Button>
        </>
      }
    >
      <p className="mb-4 text-muted text-pretty">{text.text}</p>
      {query.isPending ? (
        <SkeletonRows />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : groups.length === 0 ? (
        <Empty
          picture={<Combine size={24} strokeWidth={1.5} aria-hidden />}
          title={text.empty.title}
          text={text.empty.text}
        />
      ) : (
        <ul className="flex flex-col gap-4">
          {groups.map((group) => (
            <li
              key={`${group.kind}-${group.value}`}
              className="rounded-panel border border-line bg-surface p-4"
            >
              <h2 className="mb-2 flex flex-wrap items-baseline gap-x-2 font-medium">
                {text.kinds[group.kind]}
                <span className="min-w-0 truncate text-sm font-normal text-muted">
                  {group.value}
                </span>
              </h2>
              <ul className="flex flex-col gap-1">
                {group.leads.map((lead) => (
                  <Candidate
                    key={lead.id}
                    lead={lead}
                    prefix={`${group.kind}-${group.value}`}
                    isHere={lead.project === project.slug}
                    isChosen={chosen.includes(lead.id)}
                    onToggle={() =>
                      setChosen((before) =>
                        before.includes(lead.id)
                          ? before.filter((id) => id !== lead.id)
                          : [...before.slice(-1), lead.id],
                      )
                    }
                  />
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
      <More query={query} />
      <Record />
      {isMerging && kept && gone ? (
        <MergeDialog
          ids={[kept, gone]}
          onClose={() => setMerging(false)}
          onDone={() => {
            setMerging(false)
            setChosen([])
          }}
        />
      ) : null}
    </Page>
  )
}

function Candidate({
  lead,
  prefix,
  isHere,
  isChosen,
  onToggle,
}: {
  lead: One
  prefix: string
  isHere: boolean
  isChosen: boolean
  onToggle: () => void
}) {
  const text = useText(mergeText)
  const { unnamed } = useText(leadsText)
  const id = `${prefix}-${lead.id}`
  const name = nameOf(lead) || unnamed
  const rest = [lead.company, lead.email].filter((one) => one && one !== name).join(' · ')
  return (
    <li>
      <label
        htmlFor={id}
        className="flex min-h-9 items-center gap-3 rounded-control px-2 py-1 has-checked:bg-selected"
      >
        <Checkbox
          id={id}
          aria-label={text.select(name)}
          checked={isChosen}
          disabled={!isHere}
          onChange={onToggle}
        />
        <StageMark stage={lead.stage} />
        <span className="min-w-0 flex-1">
          <span className="block truncate">{name}</span>
          {rest || !isHere ? (
            <span className="block truncate text-sm text-muted">
              {isHere ? rest : [rest, text.elsewhere(lead.project)].filter(Boolean).join(' · ')}
            </span>
          ) : null}
        </span>
      </label>
    </li>
  )
}

/** What was merged before, from the record of it. */
function Record() {
  const { record: text } = useText(mergeText)
  const { slug } = useProject()
  const name = useNameOfSide()
  const merges = useQuery(mergesQuery(slug)).data ?? []
  if (merges.length === 0) return null
  return (
    <section className="mt-8">
      <h2 className="mb-2 font-medium">{text.title}</h2>
      <ul className="flex flex-col">
        {merges.map((merge) => (
          <li key={merge.id} className="flex items-center gap-3 border-line py-2 not-last:border-b">
            <span className="min-w-0 flex-1 truncate">
              {text.line(name(merge.gone), name(merge.kept))}
            </span>
            {merge.undone_at ? <span className="text-sm text-muted">{text.undone}</span> : null}
            <Time at={merge.merged_at} className="text-sm text-muted" />
            <UndoMerge merge={merge} />
            <Link
              href={`/p/${slug}/leads?lead=${merge.lead_id}`}
              className={buttonClass({ size: 'sm' })}
            >
              {text.open}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
