import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { buttonClass } from '../../../../web/ui/button.tsx'
import { timeNow } from '../../../../web/ui/clock.ts'
import { Field } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { projectsQuery } from '../../api/queries.ts'
import { auditText } from './audit.text.ts'
import { membersQuery } from './members.tsx'
import { Card, Section } from './section.tsx'

type Entry = Schemas['AuditEntry']
type Filter = { who: string; area: string; project: string; outcome: string; days: string }

const DAY_MS = 86_400_000
const PAGE = 50
const NO_FILTER: Filter = { who: '', area: '', project: '', outcome: '', days: '7' }

/** What a filter asks the hub; an empty choice asks for nothing. */
function queryOf({ days, ...filter }: Filter, now: number) {
  const from = days === '' ? '' : new Date(now - Number(days) * DAY_MS).toISOString()
  return Object.fromEntries(Object.entries({ ...filter, from }).filter(([, value]) => value !== ''))
}

/** The filter, which stands in the address as far as it differs from the usual one. */
function useFilter() {
  const [search, setSearch] = useSearchParams()
  const names = Object.keys(NO_FILTER) as (keyof Filter)[] // safe: its keys
  const filter = { ...NO_FILTER }
  for (const name of names) filter[name] = search.get(name) ?? NO_FILTER[name]
  if (!/^\d{0,4}$/.test(filter.days)) filter.days = NO_FILTER.days
  const set = (next: Filter) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        for (const name of names) {
          if (next[name] === NO_FILTER[name]) after.delete(name)
          else after.set(name, next[name])
        }
        return after
      },
      { replace: true },
    )
  return [filter, set] as const
}

/** Who did what and when, with filters and exports. */
export function Audit() {
  const text = useText(auditText)
  const [filter, setFilter] = useFilter()
  // Not at each look: the address of an export must not change by itself.
  const [now] = useState(() => timeNow())
  const asked = queryOf(filter, now)
  const query = useInfiniteQuery({
    queryKey: ['settings', 'audit', filter],
    queryFn: ({ pageParam }) => {
      const params = {
        query: { ...asked, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) },
      }
      return ok(api.GET('/api/cockpit/settings/audit', { params }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
  const fileOf = (format: string) =>
    `/api/cockpit/settings/audit/export?${new URLSearchParams({ ...asked, format })}`
  const rows = query.data?.pages.flatMap((page) => page.audit) ?? []
  return (
    <Section title={text.title} text={text.text}>
      <Filters filter={filter} onChange={setFilter} />
      <div className="flex flex-wrap gap-2">
        <a href={fileOf('csv')} download className={buttonClass({ size: 'sm' })}>
          {text.csv}
        </a>
        <a href={fileOf('json')} download className={buttonClass({ size: 'sm' })}>
          {text.json}
        </a>
      </div>
      {query.isPending ? (
        <SkeletonRows rows={6} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : rows.length === 0 ? (
        <p className="text-muted">{text.empty}</p>
      ) : (
        <Card>
          <ol className="-my-2 flex flex-col">
            {rows.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </ol>
          <More query={query} className="pb-0" />
        </Card>
      )}
    </Section>
  )
}

function Row({ row }: { row: Entry }) {
  const text = useText(auditText)
  return (
    <li className="border-line not-last:border-b py-3">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">{row.by}</span>
        <span className="min-w-0 break-words">{row.what}</span>
        {row.outcome === 'refused' ? <Badge tone="warn">{text.refused(row.count)}</Badge> : null}
        <Time at={row.at} className="ml-auto shrink-0 text-sm text-muted" />
      </p>
      <p className="break-all text-sm text-muted">
        <code>{[row.project, row.target, row.address].filter(Boolean).join(' · ')}</code>
      </p>
      {row.fields.length > 0 ? (
        <p className="break-words text-sm text-muted">
          <code>{row.fields.join(', ')}</code>
        </p>
      ) : null}
    </li>
  )
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const text = useText(auditText)
  const members = useQuery(membersQuery).data ?? []
  const projects = useQuery(projectsQuery).data ?? []
  const choose = (name: keyof Filter, label: string, options: [string, string][]) => (
    <Field label={label}>
      <Select
        value={filter[name]}
        onChange={({ target }) => onChange({ ...filter, [name]: target.value })}
        options={options.map(([value, label]) => ({ value, label }))}
      />
    </Field>
  )
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {choose('who', text.who, [
        ['', text.anybody],
        ...Object.entries(text.kinds),
        ...members.map(({ id, name, email }): [string, string] => [id, name ?? email]),
      ])}
      {choose('area', text.area, [['', text.anything], ...Object.entries(text.areas)])}
      {choose('days', text.days, Object.entries(text.periods))}
      {choose('project', text.project, [
        ['', text.all_projects],
        ...projects.map(({ slug, name }): [string, string] => [slug, name]),
      ])}
      {choose('outcome', text.outcome, Object.entries(text.outcomes))}
    </div>
  )
}
