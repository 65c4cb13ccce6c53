import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api, ok } from '../../../api/client.ts'
import { accountQuery, zonesQuery } from '../../../api/queries.ts'
import { useMayEdit } from '../../../api/rights.ts'
import { errorMessage, refusalDetail } from '../../../shared/errors.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { saveFile } from '../../../ui/file.ts'
import { Notice } from '../../../ui/form.tsx'
import { useText } from '../../../ui/language.ts'
import { LongList } from '../../../ui/lists/long-list.tsx'
import { Progress } from '../../../ui/progress.tsx'
import { Select } from '../../../ui/select.tsx'
import { useWords } from '../../../ui/words.tsx'
import { csvOf } from '../../reports/csv.ts'
import { sitesText } from './sites.text.ts'
import {
  guessMapping,
  type Mapping,
  readTable,
  repeated,
  SITE_FIELDS,
  type Site,
  type SiteTable,
  sitesOf,
} from './sites.ts'

const BATCH = 1000
const STATUSES = ['created', 'updated', 'unchanged', 'rejected'] as const
type Status = (typeof STATUSES)[number]
type Verdict = { line: number; name: string; status: Status; reason: string | null }
type Line = Site & { line: number }

/** A list of sites becomes zones: its columns are named, each row is judged before anything is made, and then made. */
export function SiteList({ given, radius_km }: { given: string; radius_km: number }) {
  const table = useMemo(() => readTable(given), [given])
  // Another list begins anew.
  return <Mapped key={given} table={table} radius_km={radius_km} />
}

function Mapped({ table, radius_km }: { table: SiteTable; radius_km: number }) {
  const text = useText(sitesText)
  const words = useWords()
  const [mapping, setMapping] = useState(() => guessMapping(table.heads))
  const [org, setOrg] = useState('')
  const sites = useMemo(() => sitesOf(table, mapping), [table, mapping])
  const run = useRun(sites, { mapping, org, radius_km })
  const canRun = mapping.external_id !== undefined || ('lat' in mapping && 'lon' in mapping)
  const counts = countOf(run.verdicts)
  const isForetold = run.step === 'foretold'
  return (
    <section className="flex flex-col gap-3">
      <h3>{text.title(table.rows.length)}</h3>
      <p className="text-sm text-muted">{text.rule}</p>
      <Columns
        table={table}
        mapping={mapping}
        org={org}
        isLocked={run.isPending}
        onMap={(next) => {
          run.clear()
          setMapping(next)
        }}
        onOwner={(next) => {
          run.clear()
          setOrg(next)
        }}
      />
      {canRun ? null : <Notice tone="warn" text={text.places_missing} />}
      {run.isPending ? (
        <Progress
          label={run.isDry ? text.checking : text.importing}
          value={run.verdicts.length}
          max={sites.length}
        />
      ) : null}
      {run.error ? <Notice tone="bad" text={errorMessage(run.error, words)} /> : null}
      {run.error && !run.isDry ? <Notice tone="warn" text={text.stopped} /> : null}
      <div aria-live="polite" className="flex flex-col gap-2">
        {isForetold ? <p>{text.foretold}</p> : null}
        {run.step === 'done' ? <p>{text.done}</p> : null}
        {run.verdicts.length > 0 ? (
          <p className="flex flex-wrap gap-2">
            {STATUSES.map((status) => (
              <Badge key={status} tone={TONES[status]}>
                {text.counts[status]}: {counts[status]}
              </Badge>
            ))}
          </p>
        ) : null}
        {isForetold && run.adopted > 0 ? (
          <p className="text-sm text-warn">{text.adopted(run.adopted)}</p>
        ) : null}
        {isForetold && counts.created + counts.updated === 0 ? <p>{text.nothing}</p> : null}
      </div>
      {run.verdicts.length > 0 ? <Verdicts verdicts={run.verdicts} /> : null}
      <div className="flex flex-wrap gap-2">
        {isForetold && counts.created + counts.updated > 0 ? (
          <Button variant="primary" isPending={run.isPending} onClick={() => run.start(false)}>
            {text.run(counts.created, counts.updated)}
          </Button>
        ) : (
          <Button
            variant="primary"
            disabled={!canRun || sites.length === 0}
            isPending={run.isPending}
            onClick={() => run.start(true)}
          >
            {text.check}
          </Button>
        )}
        {counts.rejected > 0 && !run.isPending ? (
          <Button onClick={() => saveRejected(table, run.verdicts, text.reason)}>
            <Download size={14} aria-hidden /> {text.save_rejected}
          </Button>
        ) : null}
      </div>
    </section>
  )
}

const TONES = { created: 'good', updated: 'good', unchanged: 'plain', rejected: 'bad' } as const

function Columns({
  table,
  mapping,
  org,
  isLocked,
  onMap,
  onOwner,
}: {
  table: SiteTable
  mapping: Mapping
  org: string
  isLocked: boolean
  onMap: (mapping: Mapping) => void
  onOwner: (org: string) => void
}) {
  const text = useText(sitesText)
  const orgs = useQuery(accountQuery).data?.account.orgs ?? []
  const heads = table.heads.map((head, at) => ({
    value: String(at),
    label: head || String(at + 1),
  }))
  return (
    <fieldset className="flex flex-col gap-2" disabled={isLocked}>
      <legend className="mb-1 text-sm font-medium">{text.columns}</legend>
      <p className="text-sm text-muted">{text.columns_hint}</p>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {SITE_FIELDS.map((field) => (
          <Field key={field} label={text.fields[field]}>
            <Select
              className="w-full"
              value={String(mapping[field] ?? '')}
              options={[
                { value: '', label: field === 'external_id' ? text.none_id : text.none },
                ...heads,
              ]}
              onChange={({ target }) => {
                const { [field]: _, ...others } = mapping
                onMap(target.value === '' ? others : { ...others, [field]: Number(target.value) })
              }}
            />
          </Field>
        ))}
        {orgs.length > 0 ? (
          <Field label={text.owner}>
            <Select
              className="w-full"
              value={org}
              options={[
                { value: '', label: text.owner_me },
                ...orgs.map(({ id, name }) => ({ value: id, label: name })),
              ]}
              onChange={({ target }) => onOwner(target.value)}
            />
          </Field>
        ) : null}
      </div>
    </fieldset>
  )
}

/** The rows with their verdicts, the rejected ones first. */
function Verdicts({ verdicts }: { verdicts: Verdict[] }) {
  const text = useText(sitesText)
  const sorted = verdicts.toSorted(
    (a, b) => Number(b.status === 'rejected') - Number(a.status === 'rejected') || a.line - b.line,
  )
  return (
    <div className="flex h-80 flex-col rounded-control border border-line">
      <LongList items={sorted} keyOf={({ line }) => String(line)} height={36} label={text.results}>
        {({ line, name, status, reason }) => (
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 text-sm">
            <span className="w-20 text-muted" data-numbers>
              {text.line(line)}
            </span>
            <code className="min-w-0 flex-1 truncate font-sans font-medium">{name}</code>
            <Badge tone={TONES[status]}>{text.counts[status]}</Badge>
            {reason ? (
              <code className="basis-full text-xs break-words text-bad">{reason}</code>
            ) : null}
          </div>
        )}
      </LongList>
    </div>
  )
}

/** Checks the list or imports it, a thousand rows after the other. */
function useRun(
  sites: Line[],
  { mapping, org, radius_km }: { mapping: Mapping; org: string; radius_km: number },
) {
  const text = useText(sitesText)
  const words = useWords()
  const queryClient = useQueryClient()
  const [verdicts, setVerdicts] = useState<Verdict[]>([])
  const [foretold, setForetold] = useState<Map<number, Status>>(new Map())
  const [isDry, setIsDry] = useState(true)
  const adoptable = useAdoptable(sites, mapping.external_id === undefined && org === '')
  const judge = async (batch: Line[], dry_run: boolean): Promise<Verdict[]> => {
    const again = repeated(sites)
    const sent = batch.filter(({ line }) => !again.has(line))
    const zones = sent.map(({ line, ...site }) => ({
      ...site,
      ...(org ? { org_id: org } : {}),
      // The radius of places is for those that are made: it overwrites none that somebody chose.
      ...(foretold.get(line) === 'created' ? { radius_km: site.radius_km ?? radius_km } : {}),
    }))
    // safe: what a cell has that is no number is answered in its row
    const body = { zones: zones as never[], dry_run }
    const answer = zones.length > 0 ? await ok(api.POST('/api/v1/zones/bulk', { body })) : null
    const results = new Map(answer?.results.map((result) => [sent[result.row - 1]?.line, result]))
    return batch.map(({ line, label, external_id }) => {
      const result = results.get(line)
      const before = again.get(line)
      const name = String(label ?? external_id)
      if (!result) return { line, name, status: 'rejected', reason: text.repeated(before ?? line) }
      const isAdopted = result.status === 'created' && adoptable.has(external_id)
      const status = isAdopted ? 'updated' : result.status
      return {
        line,
        name,
        status,
        reason: result.error ? refusalDetail(result.error, words) : null,
      }
    })
  }
  const run = useMutation({
    mutationFn: async (dry_run: boolean) => {
      setIsDry(dry_run)
      setVerdicts([])
      if (!dry_run) await adopt([...adoptable])
      const done: Verdict[] = []
      for (let from = 0; from < sites.length; from += BATCH) {
        done.push(...(await judge(sites.slice(from, from + BATCH), dry_run)))
        setVerdicts([...done])
      }
      if (dry_run) setForetold(new Map(done.map(({ line, status }) => [line, status])))
      return dry_run ? ('foretold' as const) : ('done' as const)
    },
    onSettled: (_, __, dry_run) => {
      if (!dry_run) queryClient.invalidateQueries({ queryKey: ['zones'] })
    },
  })
  return {
    verdicts,
    isDry,
    adopted: adoptable.size,
    step: run.isSuccess ? run.data : null,
    error: run.error,
    isPending: run.isPending,
    start: (dry_run: boolean) => run.mutate(dry_run),
    clear: () => {
      setVerdicts([])
      run.reset()
    },
  }
}

/** Zones without a code whose names are in a list that has none either, by name. */
function useAdoptable(sites: Line[], isByName: boolean): Map<string, string> {
  const zones = useQuery(zonesQuery).data ?? []
  const mayEdit = useMayEdit()
  if (!isByName) return new Map()
  const names = new Set(sites.map(({ external_id }) => external_id))
  return new Map(
    zones
      .filter((zone) => !zone.external_id && !zone.org_id && mayEdit(zone) && names.has(zone.label))
      .map(({ label, id }) => [label, id]),
  )
}

/** The names of zones become their codes, so that the list finds them. */
async function adopt(zones: [name: string, id: string][]): Promise<void> {
  for (const [external_id, id] of zones) {
    await ok(api.PATCH('/api/v1/zones/{id}', { params: { path: { id } }, body: { external_id } }))
  }
}

function countOf(verdicts: readonly Verdict[]): Record<Status, number> {
  const counts = { created: 0, updated: 0, unchanged: 0, rejected: 0 }
  for (const { status } of verdicts) counts[status] += 1
  return counts
}

/** The rejected rows as they were, with the reason: to mend and import again. */
function saveRejected(table: SiteTable, verdicts: readonly Verdict[], reason: string): void {
  const cells = new Map(table.rows.map((row) => [row.line, row.cells]))
  const rows = verdicts
    .filter(({ status }) => status === 'rejected')
    .map((verdict) => ({
      ...Object.fromEntries(table.heads.map((head, at) => [head, cells.get(verdict.line)?.[at]])),
      [reason]: verdict.reason,
    }))
  saveFile('watchpost-rejected.csv', csvOf(rows), 'text/csv')
}
