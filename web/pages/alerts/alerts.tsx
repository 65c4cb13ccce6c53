import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Bell } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import {
  type Alert,
  type AlertFilter,
  alertsQuery,
  healthQuery,
  zonesQuery,
} from '../../api/queries.ts'
import { Severity } from '../../event/severity.tsx'
import { TypeIcon } from '../../event/type-icon.tsx'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/class-names.ts'
import { Checkbox } from '../../ui/field.tsx'
import { useKeys } from '../../ui/keys.ts'
import { useText } from '../../ui/language.ts'
import { More } from '../../ui/lists/more.tsx'
import { Panes } from '../../ui/lists/panes.tsx'
import { Select } from '../../ui/select.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { AlertDetail } from './alert-detail.tsx'
import { alertsText } from './alerts.text.ts'
import { useResolve, useResolveMany } from './resolve.ts'

const DAYS = [1, 7, 30, 90, 400]
const SEVERITIES = [20, 40, 60, 80]
const STATUSES = ['pending', 'held', 'dispatched', 'failed', 'suppressed', 'recorded'] as const

/** The inbox: alerts by a filter that stands in the address, and the chosen one beside them. */
export function AlertsPage({ id }: { id: string | undefined }) {
  const text = useText(alertsText)
  const [, navigate] = useLocation()
  const [search] = useSearchParams()
  const filter = useMemo(() => filterOf(search), [search])
  const alerts = useInfiniteQuery(alertsQuery(filter))
  const listed = useMemo(
    () => alerts.data?.pages.flatMap((page) => page.alerts) ?? [],
    [alerts.data],
  )
  const resolve = useResolve()
  const [marked, setSelected] = useState<string[]>([])
  // What is no longer listed is not selected either: nobody sees that it would be resolved.
  const selected = marked.filter((one) => listed.some((alert) => alert.id === one))
  const toggle = (one: string) =>
    setSelected(
      selected.includes(one) ? selected.filter((other) => other !== one) : [...selected, one],
    )
  const query = search.toString()
  const open = (to: string | undefined) =>
    navigate(`/alerts${to ? `/${to}` : ''}${query ? `?${query}` : ''}`)
  const at = listed.findIndex((alert) => alert.id === id)
  const chosen = listed[at]
  useKeys({
    j: () => open(listed[Math.min(at + 1, listed.length - 1)]?.id ?? id),
    k: () => open(listed[Math.max(at - 1, 0)]?.id ?? id),
    e: chosen ? () => resolve.mutate(chosen) : undefined,
    x: chosen ? () => toggle(chosen.id) : undefined,
    Escape: id ? () => open(undefined) : undefined,
  })
  return (
    <Panes
      isOpen={id !== undefined}
      isWide
      list={
        <>
          <header className="flex flex-col gap-2 border-b border-line px-4 py-3">
            <h1 className="text-lg">{text.title}</h1>
            <Filter />
          </header>
          {selected.length > 0 || listed.length > 1 ? (
            <SelectionBar listed={listed} selected={selected} onSelect={setSelected} />
          ) : null}
          {alerts.isPending ? <SkeletonRows /> : null}
          {hasFailed(alerts) ? (
            <FailedQuery error={alerts.error} onRetry={() => alerts.refetch()} />
          ) : null}
          {alerts.data && listed.length === 0 ? (
            <Empty
              picture={<Bell size={24} strokeWidth={1.5} aria-hidden />}
              title={text.none}
              text={text.none_text}
            />
          ) : null}
          {alerts.data ? (
            <div className="min-h-0 flex-1 overflow-y-auto">
              <ul>
                {listed.map((alert) => (
                  <li
                    key={alert.id}
                    className="flex border-b border-line hover:bg-hover has-[[aria-current]]:bg-selected"
                  >
                    <label htmlFor={`select-${alert.id}`} className="flex items-center pl-3">
                      <Checkbox
                        id={`select-${alert.id}`}
                        aria-label={text.select(alert.event.title)}
                        checked={selected.includes(alert.id)}
                        onChange={() => toggle(alert.id)}
                      />
                    </label>
                    <button
                      type="button"
                      aria-current={alert.id === id ? 'true' : undefined}
                      onClick={() => open(alert.id)}
                      className="flex min-w-0 flex-1 items-center gap-3 py-2 pr-4 pl-3 text-left -outline-offset-2"
                    >
                      <span className="text-muted">
                        <TypeIcon type={alert.event.type} />
                      </span>
                      <span className="min-w-0 flex-1">
                        <span
                          className={cn(
                            'line-clamp-2',
                            alert.resolved && 'text-muted line-through',
                          )}
                        >
                          {alert.event.title}
                        </span>
                        <span className="text-sm text-muted">
                          {alert.zone_name} · {text.statuses[alert.status]} ·{' '}
                          <Time at={alert.raised_at} className="whitespace-nowrap" />
                        </span>
                      </span>
                      <Severity severity={alert.severity} />
                    </button>
                  </li>
                ))}
              </ul>
              <More query={alerts} />
            </div>
          ) : null}
        </>
      }
    >
      {id ? (
        <AlertDetail key={id} id={id} onClose={() => open(undefined)} />
      ) : (
        <Empty
          picture={<Bell size={24} strokeWidth={1.5} aria-hidden />}
          title={text.choose}
          text={text.choose_text}
        />
      )}
    </Panes>
  )
}

/** The filter that an address means; what it does not understand it leaves out. */
function filterOf(search: URLSearchParams): AlertFilter {
  const state = search.get('state') ?? 'open'
  const zone_id = search.get('zone')
  const source = search.get('source')
  const status = STATUSES.find((one) => one === search.get('delivery'))
  const [severity, days] = [Number(search.get('severity')), Number(search.get('days'))]
  return {
    ...(state === 'all' ? {} : { resolved: state === 'resolved' ? 'true' : 'false' }),
    ...(zone_id ? { zone_id } : {}),
    ...(source ? { source } : {}),
    ...(status ? { status } : {}),
    ...(SEVERITIES.includes(severity) ? { min_severity: severity } : {}),
    days: DAYS.includes(days) ? days : 7,
  }
}

function Filter() {
  const text = useText(alertsText)
  const zones = useQuery(zonesQuery)
  const health = useQuery(healthQuery)
  const [search, setSearch] = useSearchParams()
  const set = (name: string, value: string) =>
    setSearch((before) => {
      const next = new URLSearchParams(before)
      if (value) next.set(name, value)
      else next.delete(name)
      return next
    })
  return (
    <div className="flex flex-wrap gap-2">
      <Select
        aria-label={text.state}
        value={search.get('state') ?? 'open'}
        onChange={({ target }) => set('state', target.value === 'open' ? '' : target.value)}
        options={(['open', 'resolved', 'all'] as const).map((value) => ({
          value,
          label: text.states[value],
        }))}
      />
      <Select
        aria-label={text.severity}
        value={search.get('severity') ?? ''}
        onChange={({ target }) => set('severity', target.value)}
        options={[
          { value: '', label: text.any_severity },
          ...SEVERITIES.map((value) => ({
            value: String(value),
            label: text.from_severity(value),
          })),
        ]}
      />
      <Select
        aria-label={text.days}
        value={search.get('days') ?? '7'}
        onChange={({ target }) => set('days', target.value === '7' ? '' : target.value)}
        options={DAYS.map((value) => ({ value: String(value), label: text.last_days(value) }))}
      />
      <Select
        aria-label={text.zone}
        className="max-w-40"
        value={search.get('zone') ?? ''}
        onChange={({ target }) => set('zone', target.value)}
        options={[
          { value: '', label: text.all_zones },
          ...(zones.data ?? []).map(({ id, label }) => ({ value: id, label })),
        ]}
      />
      <Select
        aria-label={text.source}
        className="max-w-40"
        value={search.get('source') ?? ''}
        onChange={({ target }) => set('source', target.value)}
        options={[
          { value: '', label: text.all_sources },
          ...(health.data?.sources ?? []).map(({ source }) => ({ value: source, label: source })),
        ]}
      />
      <Select
        aria-label={text.delivery}
        value={search.get('delivery') ?? ''}
        onChange={({ target }) => set('delivery', target.value)}
        options={[
          { value: '', label: text.any_delivery },
          ...STATUSES.map((value) => ({ value, label: text.statuses[value] })),
        ]}
      />
    </div>
  )
}

/** Selects what is shown, and resolves what is selected. */
function SelectionBar({
  listed,
  selected,
  onSelect,
}: {
  listed: Pick<Alert, 'id' | 'resolved'>[]
  selected: string[]
  onSelect: (ids: string[]) => void
}) {
  const text = useText(alertsText)
  const many = useResolveMany()
  const open = listed.filter(({ id, resolved }) => selected.includes(id) && !resolved)
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-3 border-b border-line px-3 py-1">
      <Checkbox
        aria-label={text.select_all}
        checked={selected.length === listed.length}
        isIndeterminate={selected.length > 0 && selected.length < listed.length}
        onChange={({ target }) => onSelect(target.checked ? listed.map(({ id }) => id) : [])}
      />
      {selected.length === 0 ? (
        <span className="text-sm text-muted">{text.select_all}</span>
      ) : (
        <>
          <span className="text-sm" role="status">
            {text.selected(selected.length)}
          </span>
          <Button
            size="sm"
            isPending={many.isPending}
            disabled={open.length === 0}
            onClick={() =>
              many.mutate(
                open.map(({ id }) => id),
                // What could not be resolved stays selected, to try again.
                { onSuccess: ({ done }) => onSelect(selected.filter((id) => !done.includes(id))) },
              )
            }
          >
            {text.resolve_selected}
          </Button>
          <Button size="sm" variant="ghost" onClick={() => onSelect([])}>
            {text.unselect}
          </Button>
        </>
      )}
    </div>
  )
}
