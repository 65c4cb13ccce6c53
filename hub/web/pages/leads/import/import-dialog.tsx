import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, CircleAlert, Download, FileUp } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { errorMessage, FailedQuery, hasFailed } from '../../../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../../../web/ui/button.tsx'
import { cn } from '../../../../../web/ui/class-names.ts'
import { Notice } from '../../../../../web/ui/form.tsx'
import { number, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../../web/ui/layer.tsx'
import { Progress } from '../../../../../web/ui/progress.tsx'
import { Spinner } from '../../../../../web/ui/states.tsx'
import { useWords } from '../../../../../web/ui/words.tsx'
import { api, formOf, ok, type Schemas } from '../../../api/client.ts'
import { useProject } from '../../../project.ts'
import { refreshLeads } from '../queries.ts'
import { importText } from './import.text.ts'
import { ImportMapping, type Preview } from './import-mapping.tsx'

type Step = keyof (typeof importText)['en']['steps']
const EVERY_MS = 400

type Props = {
  /** The import in the address, which may be an old one. */
  running: string | null
  onRunning: (id: string | null) => void
  onClose: () => void
}

/** Imports leads from a file: choose it, map its columns, watch the progress. */
export function ImportDialog({ isOpen, ...props }: Props & { isOpen: boolean }) {
  const text = useText(importText)
  const [step, setStep] = useState<Step>('file')
  return (
    <Dialog
      isOpen={isOpen}
      onClose={props.onClose}
      title={text.title}
      description={text.steps[step]}
      size="lg"
    >
      <Steps onStep={setStep} {...props} />
    </Dialog>
  )
}

function Steps({ running, onRunning, onStep, onClose }: Props & { onStep: (step: Step) => void }) {
  const [chosen, setChosen] = useState<{ file: File; preview: Preview }>()
  useEffect(() => {
    if (!running) onStep(chosen ? 'columns' : 'file')
  }, [onStep, running, chosen])
  const again = () => {
    setChosen(undefined)
    onRunning(null)
  }
  if (running) return <Running id={running} onStep={onStep} onAgain={again} onClose={onClose} />
  if (!chosen) return <ChooseFile onChosen={setChosen} />
  return <ImportMapping {...chosen} onBack={() => setChosen(undefined)} onRunning={onRunning} />
}

function ChooseFile({
  onChosen,
}: {
  onChosen: (chosen: { file: File; preview: Preview }) => void
}) {
  const text = useText(importText)
  const words = useWords()
  const { slug: project } = useProject()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const [isReading, setReading] = useState(false)
  const [error, setError] = useState<unknown>()
  const read = async (file: File | undefined) => {
    if (!file) return
    setReading(true)
    setError(undefined)
    try {
      const preview = await ok(
        api.POST('/api/cockpit/leads/import_preview', {
          body: formOf({ file, project }),
        }),
      )
      onChosen({ file, preview })
    } catch (error) {
      setError(error)
      setReading(false)
    }
  }
  return (
    <>
      <label
        htmlFor={id}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          void read(event.dataTransfer.files[0])
        }}
        className={cn(
          'flex min-h-56 flex-col items-center justify-center gap-1 rounded-panel border border-dashed px-6 text-center transition-colors focus-within:outline-2 focus-within:outline-accent hover:bg-hover',
          isOver ? 'border-accent bg-selected' : 'border-line-strong',
        )}
      >
        {isReading ? (
          <Spinner label={words.loading} />
        ) : (
          <>
            <FileUp size={24} strokeWidth={1.5} className="mb-3 text-muted" aria-hidden />
            <span className="font-medium">{text.drop}</span>
            <span className="text-sm text-muted">{text.limit}</span>
            <span className={cn(buttonClass(), 'mt-4')}>{text.choose}</span>
          </>
        )}
        <input
          id={id}
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          className="sr-only"
          onChange={(event) => {
            void read(event.target.files?.[0])
            event.target.value = ''
          }}
        />
      </label>
      {error ? <Notice tone="bad" className="mt-4" text={errorMessage(error, words)} /> : null}
    </>
  )
}

function Running({
  id,
  onStep,
  onAgain,
  onClose,
}: {
  id: string
  onStep: (step: Step) => void
  onAgain: () => void
  onClose: () => void
}) {
  const text = useText(importText)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const query = useQuery({
    queryKey: ['import', id],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/leads/imports/{id}', { params: { path: { id } } }))).import,
    refetchInterval: ({ state }) =>
      state.data && ['done', 'failed'].includes(state.data.status) ? false : EVERY_MS,
  })
  const run = query.data
  const status = run?.status
  const isOver = status === 'done' || status === 'failed'
  useEffect(() => {
    onStep(status === 'done' ? 'over' : status === 'failed' ? 'stopped' : 'running')
    if (isOver) void refreshLeads(queryClient)
  }, [isOver, status, onStep, queryClient])
  if (hasFailed(query)) {
    return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  }
  const results = run
    ? [
        run.created > 0 || isOver ? text.created(run.created) : null,
        run.merged > 0 ? text.merged(run.merged) : null,
        run.skipped > 0 ? text.skipped(run.skipped) : null,
        run.refused > 0 ? text.refused(run.refused) : null,
        run.noticed > 0 ? text.noticed(run.noticed) : null,
      ].filter((one) => one !== null)
    : []
  return (
    <>
      <div className="rounded-panel border border-line bg-surface p-5">
        <p className="flex items-center gap-2 font-medium">
          {run?.status === 'done' ? (
            <Check size={16} className="text-good" aria-hidden />
          ) : run?.status === 'failed' ? (
            <CircleAlert size={16} className="text-bad" aria-hidden />
          ) : null}
          <span className="min-w-0 flex-1 truncate">
            {run?.status === 'done'
              ? text.done
              : run?.status === 'failed'
                ? text.failed
                : run?.file}
          </span>
          {run ? (
            <span className="text-sm font-normal text-muted" data-numbers>
              {text.progress(number(language, run.handled), number(language, run.total))}
            </span>
          ) : null}
        </p>
        <Progress
          className="mt-3"
          label={text.progress_label}
          value={run?.handled}
          max={run?.total ?? 1}
        />
        <p role="status" className="mt-3 flex flex-wrap gap-x-4 text-sm text-muted" data-numbers>
          {results.map((one) => (
            <span key={one}>{one}</span>
          ))}
        </p>
        {run?.reason ? <p className="mt-2 text-bad">{run.reason}</p> : null}
        {run?.left_out.map((what) => (
          <p key={what} className="mt-2 text-sm text-muted break-words">
            {what}
          </p>
        ))}
      </div>
      {run ? <Told id={id} rows="refused" lines={run.mistakes} /> : null}
      {run ? <Told id={id} rows="noticed" lines={run.notices} /> : null}
      <Actions>
        {isOver ? <Button onClick={onAgain}>{text.another}</Button> : null}
        <Button variant={isOver ? 'primary' : 'secondary'} onClick={onClose}>
          {text.show}
        </Button>
      </Actions>
    </>
  )
}

/** What is told of single rows: the first of them, and all in a file. */
function Told({
  id,
  rows,
  lines,
}: {
  id: string
  rows: 'refused' | 'noticed'
  lines: Schemas['Import']['mistakes']
}) {
  const text = useText(importText)
  const language = useLanguage()
  if (lines.length === 0) return null
  return (
    <section className="mt-4" aria-label={text.told[rows]}>
      <h3 className="mb-2 text-sm font-medium">{text.told[rows]}</h3>
      <ul className="max-h-40 overflow-y-auto rounded-control border border-line text-sm">
        {lines.map(({ row, column, message }) => (
          <li
            key={`${row}-${column}-${message}`}
            className="flex gap-3 border-b border-line px-3 py-1.5 last:border-0"
          >
            <span className="w-16 shrink-0 text-muted">{text.row(row)}</span>
            <span className="min-w-0 break-words">
              {column}: {message}
            </span>
          </li>
        ))}
      </ul>
      <a
        href={`/api/cockpit/leads/imports/${id}/errors?rows=${rows}&language=${language}`}
        download
        className={cn(buttonClass({ size: 'sm' }), 'mt-2')}
      >
        <Download size={14} aria-hidden />
        {text.download[rows]}
      </a>
    </section>
  )
}
