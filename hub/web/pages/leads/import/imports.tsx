import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download, History } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed, useToastError } from '../../../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../../../web/ui/button.tsx'
import { number, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../../web/ui/layer.tsx'
import { FactsLine } from '../../../../../web/ui/lists/facts-line.tsx'
import { Empty, SkeletonRows } from '../../../../../web/ui/states.tsx'
import { Time } from '../../../../../web/ui/time.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { useIsReadOnly } from '../../../api/queries.ts'
import { common } from '../../../common.text.ts'
import { useProject } from '../../../project.ts'
import { Page } from '../../../shell/page.tsx'
import { mergeText } from '../merge/merge.text.ts'
import { refreshLeads } from '../queries.ts'

type Import = Schemas['Import']
const COUNTS = ['created', 'merged', 'skipped', 'refused'] as const
const FILES = ['refused', 'noticed'] as const

/** Every import of the project: what came of it, its rows with mistakes, and the way back. */
export function Imports() {
  const { back, imports: text } = useText(mergeText)
  const { slug } = useProject()
  const query = useQuery({
    queryKey: ['imports', slug],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/leads/imports', { params: { query: { project: slug } } })))
        .imports,
  })
  return (
    <Page
      title={text.title}
      isWide={false}
      actions={
        <Link href={`/p/${slug}/leads`} className={buttonClass()}>
          {back}
        </Link>
      }
    >
      {query.isPending ? (
        <SkeletonRows />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : query.data.length === 0 ? (
        <Empty
          picture={<History size={24} strokeWidth={1.5} aria-hidden />}
          title={text.empty.title}
          text={text.empty.text}
        />
      ) : (
        <ul className="flex flex-col gap-3">
          {query.data.map((one) => (
            <One key={one.id} run={one} />
          ))}
        </ul>
      )}
    </Page>
  )
}

function One({ run }: { run: Import }) {
  const { imports: text } = useText(mergeText)
  const language = useLanguage()
  const { read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const [isAsking, setAsking] = useState(false)
  const isOver = run.status === 'done' || run.status === 'failed'
  return (
    <li className="rounded-panel border border-line bg-surface p-4">
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-48 flex-1">
          <h2 className="truncate font-medium">{run.file}</h2>
          <FactsLine>
            {text.status[run.undone_at ? 'undone' : run.status]}
            <Time at={run.created_at} />
            {run.undone_at ? text.removed(run.removed) : null}
          </FactsLine>
        </div>
        {FILES.map((rows) =>
          run[rows] > 0 ? (
            <a
              key={rows}
              href={`/api/cockpit/leads/imports/${run.id}/errors?rows=${rows}&language=${language}`}
              download
              className={buttonClass({ size: 'sm' })}
            >
              <Download size={14} aria-hidden />
              {text[`${rows}_file`]}
            </a>
          ) : null,
        )}
        {isOver && !run.undone_at && run.created > 0 ? (
          <Button
            size="sm"
            disabled={isReadOnly}
            aria-label={text.undo_label(run.file)}
            onClick={() => setAsking(true)}
          >
            {text.undo}
          </Button>
        ) : null}
      </div>
      <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1 text-sm" data-numbers>
        {(['total', ...COUNTS, ...(run.noticed > 0 ? ['noticed' as const] : [])] as const).map(
          (key) => (
            <div key={key} className="flex gap-2">
              <dt className="text-muted">{key === 'total' ? text.rows : text[key]}</dt>
              <dd className="font-medium">{number(language, run[key])}</dd>
            </div>
          ),
        )}
      </dl>
      {[run.reason, ...run.left_out].map((what) =>
        what ? (
          <p key={what} className="mt-2 text-sm text-muted break-words">
            {what}
          </p>
        ) : null,
      )}
      {isAsking ? <Undo run={run} onClose={() => setAsking(false)} /> : null}
    </li>
  )
}

function Undo({ run, onClose }: { run: Import; onClose: () => void }) {
  const { imports: text } = useText(mergeText)
  const { cancel } = useText(common)
  const queryClient = useQueryClient()
  const say = useToastError()
  const undo = useMutation({
    mutationFn: () =>
      ok(api.POST('/api/cockpit/leads/imports/{id}/undo', { params: { path: { id: run.id } } })),
    onSuccess: async (done) => {
      await queryClient.invalidateQueries({ queryKey: ['imports'] })
      await refreshLeads(queryClient)
      toast(text.undone(done.import.removed, done.kept))
      onClose()
    },
    onError: say,
  })
  return (
    <Dialog isOpen onClose={onClose} title={text.undo_title} description={run.file}>
      <p className="text-muted text-pretty">{text.undo_text}</p>
      <Actions>
        <Button onClick={onClose}>{cancel}</Button>
        <Button variant="danger" isPending={undo.isPending} onClick={() => undo.mutate()}>
          {text.undo}
        </Button>
      </Actions>
    </Dialog>
  )
}
