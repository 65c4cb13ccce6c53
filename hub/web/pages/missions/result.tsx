import { useQuery } from '@tanstack/react-query'
import { Download, FileText, ListOrdered, Mail, Users } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../../web/ui/button.tsx'
import { type BarRow, NamedBars } from '../../../../web/ui/chart.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { api, ok } from '../../api/client.ts'
import { EditResult } from './edit-result.tsx'
import { FollowUps } from './follow-ups.tsx'
import { LineChart } from './line-chart.tsx'
import { Markdown } from './markdown.tsx'
import { missionsText } from './missions.text.ts'
import type { Details } from './queries.ts'

type Result = NonNullable<Details['result']>
type Table = NonNullable<Result['table']>

/** The result of a mission. */
export function ResultView({
  mission,
  result,
  isReadOnly,
}: {
  mission: Details
  result: Result
  isReadOnly: boolean
}) {
  const { result: text } = useText(missionsText)
  const base = `/p/${mission.project}`
  const {
    leads = [],
    drafts = [],
    sequences = [],
    documents = [],
    table,
    chart,
    sql,
    follow_ups = [],
  } = result
  const [first] = drafts
  const [sequence] = sequences
  return (
    <section aria-labelledby="result" className="flex flex-col gap-5">
      <h3 id="result" className="sr-only">
        {text.title}
      </h3>
      <div className="flex flex-wrap items-start gap-2">
        <div className="min-w-48 flex-1 text-lg text-pretty">
          <Markdown text={result.summary} />
        </div>
        <EditResult id={mission.id} part="summary" disabled={isReadOnly} />
      </div>
      {leads.length > 0 || first || sequence ? (
        <div className="flex flex-wrap gap-2">
          {first ? (
            <Link
              href={drafts.length === 1 ? `${base}/drafts?draft=${first}` : `${base}/drafts`}
              className={`${buttonClass({ variant: 'primary' })} gap-1.5`}
            >
              <Mail size={14} aria-hidden />
              {text.drafts(drafts.length)}
            </Link>
          ) : null}
          {sequence ? (
            <Link
              href={`${base}/sequences?sequence=${sequence}`}
              className={`${buttonClass({ variant: 'primary' })} gap-1.5`}
            >
              <ListOrdered size={14} aria-hidden />
              {text.sequence}
            </Link>
          ) : null}
          {leads.length > 0 ? (
            <Link
              href={leads.length === 1 ? `${base}/leads?lead=${leads[0]}` : `${base}/leads`}
              className={`${buttonClass()} gap-1.5`}
            >
              <Users size={14} aria-hidden />
              {text.leads(leads.length)}
            </Link>
          ) : null}
        </div>
      ) : null}
      {table && chart ? <Chart table={table} chart={chart} /> : null}
      {table ? <ResultTable table={table} /> : null}
      {sql ? (
        <details>
          <summary className="w-fit rounded-control text-sm text-muted hover:text-fg">
            {text.query}
          </summary>
          <pre className="mt-2 overflow-x-auto rounded-panel border border-line bg-surface p-3 font-mono text-sm">
            {sql}
          </pre>
        </details>
      ) : null}
      {documents.length > 0 ? (
        <Documents mission={mission} documents={documents} isReadOnly={isReadOnly} />
      ) : null}
      {follow_ups.length > 0 ? (
        <FollowUps mission={mission} tasks={follow_ups} isReadOnly={isReadOnly} />
      ) : null}
    </section>
  )
}

function Documents({
  mission,
  documents,
  isReadOnly,
}: {
  mission: Details
  documents: { path: string; title: string }[]
  isReadOnly: boolean
}) {
  const { id, project } = mission
  const { result: text } = useText(missionsText)
  const [shown, setShown] = useState(documents[0]?.path ?? '')
  const query = useQuery({
    queryKey: ['document', project, shown],
    queryFn: async () =>
      (
        await ok(
          api.GET('/api/cockpit/documents/get', { params: { query: { project, path: shown } } }),
        )
      ).document,
    staleTime: 60_000,
  })
  const link = (format: 'file' | 'pdf') =>
    `/api/cockpit/documents/download?${new URLSearchParams({ project, path: shown, format })}`
  return (
    <div className="overflow-hidden rounded-panel border border-line bg-surface">
      <header className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot scroll sideways in every browser */}
        <div
          className="flex min-w-0 flex-1 gap-1 overflow-x-auto max-md:basis-full"
          role="group"
          aria-label={text.documents}
        >
          {documents.map(({ path, title }) => (
            <button
              key={path}
              type="button"
              aria-pressed={path === shown}
              onClick={() => setShown(path)}
              className={cn(
                'flex h-8 max-w-72 shrink-0 items-center gap-1.5 rounded-control px-2 text-sm',
                path === shown ? 'bg-hover font-medium' : 'text-muted hover:text-fg',
              )}
            >
              <FileText size={14} aria-hidden className="shrink-0" />
              <span className="truncate">{title}</span>
            </button>
          ))}
        </div>
        {shown.endsWith('.md') ? (
          <EditResult key={shown} id={id} part={shown} disabled={isReadOnly} />
        ) : null}
        <a href={link('file')} download className={`${buttonClass({ size: 'sm' })} gap-1.5`}>
          <Download size={14} aria-hidden />
          {text.download}
        </a>
        {shown.endsWith('.md') ? (
          <a href={link('pdf')} download className={buttonClass({ size: 'sm' })}>
            {text.pdf}
          </a>
        ) : null}
      </header>
      <div className="px-5 py-5 md:px-8">
        {query.isPending ? (
          <SkeletonRows rows={4} />
        ) : hasFailed(query) ? (
          <FailedQuery error={query.error} onRetry={() => query.refetch()} />
        ) : shown.endsWith('.md') ? (
          <Markdown text={query.data.text} />
        ) : (
          <pre className="overflow-x-auto font-mono text-sm whitespace-pre">{query.data.text}</pre>
        )}
      </div>
    </div>
  )
}

/** A chart of the table's two columns: bars with names, or a line over time. */
function Chart({ table, chart }: { table: Table; chart: NonNullable<Result['chart']> }) {
  const { result: text } = useText(missionsText)
  const x = table.columns.indexOf(chart.x)
  const y = table.columns.indexOf(chart.y)
  const points = table.rows.flatMap((row) => {
    const value = Number(row[y])
    return x < 0 || y < 0 || !Number.isFinite(value) ? [] : [{ name: String(row[x] ?? ''), value }]
  })
  if (points.length === 0) return null
  const label = text.chart(chart.y, chart.x)
  const hasNegative = points.some(({ value }) => value < 0)
  if (chart.kind === 'line' || hasNegative) return <LineChart label={label} points={points} />
  const rows: BarRow[] = points.slice(0, 40).map(({ name, value }, at) => ({
    key: `${at}`,
    label: <span className="truncate">{name}</span>,
    value,
  }))
  return (
    <figure className="rounded-panel border border-line bg-surface p-5">
      <NamedBars label={label} rows={rows} />
    </figure>
  )
}

const SHOWN_ROWS = 50

/** Postgres returns numbers that may be large as text; those too large for a number stay text. */
function isNumeric(cell: Table['rows'][number][number] | undefined): boolean {
  if (typeof cell === 'number') return true
  return typeof cell === 'string' && /^-?(0|[1-9]\d{0,14})(\.\d{1,6})?$/.test(cell)
}

function ResultTable({ table }: { table: Table }) {
  const { result: text } = useText(missionsText)
  const language = useLanguage()
  const [isWhole, setWhole] = useState(false)
  const rows = isWhole ? table.rows : table.rows.slice(0, SHOWN_ROWS)
  const isNumber = table.columns.map((_, at) =>
    table.rows.every((row) => row[at] === null || isNumeric(row[at])),
  )
  const say = (cell: Table['rows'][number][number] | undefined) => {
    if (cell === null || cell === undefined) return ''
    if (typeof cell === 'boolean') return cell ? text.yes : text.no
    return isNumeric(cell) ? number(language, Number(cell)) : cell
  }
  return (
    <div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrollable region
        tabIndex={0}
        aria-label={text.table}
        className="max-h-[32rem] overflow-auto rounded-panel border border-line"
      >
        <table className="w-full border-separate border-spacing-0">
          <thead>
            <tr>
              {table.columns.map((column, at) => (
                <th
                  key={column}
                  scope="col"
                  className={cn(
                    'sticky top-0 border-b border-line bg-surface px-3 py-2 text-xs font-medium text-muted',
                    isNumber[at] ? 'text-right' : 'text-left',
                  )}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {table.columns.map((column, nth) => (
                  <td
                    key={column}
                    className={cn(
                      'max-w-96 border-line px-3 py-2 align-top break-words',
                      at < rows.length - 1 && 'border-b',
                      isNumber[nth] && 'text-right',
                    )}
                  >
                    {say(row[nth])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length < table.rows.length ? (
        <div className="mt-2 flex items-center gap-3 text-sm text-muted">
          {text.rows(rows.length, table.rows.length)}
          <Button size="sm" variant="ghost" onClick={() => setWhole(true)}>
            {text.show_rows}
          </Button>
        </div>
      ) : null}
    </div>
  )
}
