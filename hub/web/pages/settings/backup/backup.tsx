import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { DatabaseBackup, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { FailedQuery, hasFailed, useToastError } from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { Notice } from '../../../../../web/ui/form.tsx'
import { getLanguage, useText } from '../../../../../web/ui/language.ts'
import { Progress } from '../../../../../web/ui/progress.tsx'
import { SkeletonRows } from '../../../../../web/ui/states.tsx'
import { Time } from '../../../../../web/ui/time.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { api, ok, ProblemError, problemIn, type Schemas } from '../../../api/client.ts'
import { machineText } from '../machine.text.ts'
import { Card, Facts, Section } from '../section.tsx'
import { BackupList } from './backup-list.tsx'
import { backupsQuery } from './backup-query.ts'
import { BackupSettings } from './backup-settings.tsx'

/** Making, listing, checking, downloading and restoring backups. */
export function Backup() {
  const { backup: text } = useText(machineText)
  const query = useQuery(backupsQuery)
  const queryClient = useQueryClient()
  const say = useToastError()
  const run = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/backup/run')),
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey }),
  })
  if (query.isPending) return <SkeletonRows rows={8} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const { backups, job, last_at, next_at } = query.data
  const isRunning = job?.status === 'running'
  return (
    <Section title={text.title} text={text.text}>
      <Card>
        <Facts
          rows={[
            [text.last, last_at ? <Time key="last" at={last_at} /> : text.never],
            [text.next, <Time key="next" at={next_at} />],
          ]}
        />
        <div className="mt-4 flex flex-wrap gap-2">
          <Button
            variant="primary"
            disabled={isRunning}
            isPending={run.isPending}
            icon={<DatabaseBackup size={14} aria-hidden />}
            onClick={() => run.mutate()}
          >
            {text.run}
          </Button>
          <UploadButton />
        </div>
        {job ? <JobState job={job} /> : null}
      </Card>
      <BackupList backups={backups} isBusy={isRunning} />
      <BackupSettings />
    </Section>
  )
}

function JobState({ job }: { job: Schemas['BackupJob'] }) {
  const { backup: text } = useText(machineText)
  if (job.status === 'running') {
    const step = Object.hasOwn(text.steps, job.step)
      ? text.steps[job.step as keyof typeof text.steps] // safe: checked in the condition
      : job.step
    return (
      <div className="mt-4" role="status">
        <p className="mb-1.5 flex justify-between gap-3">
          <span className="font-medium">{text.job[job.kind]}</span>
          <span className="text-muted">{step}</span>
        </p>
        <Progress label={text.job[job.kind]} value={job.progress} />
      </div>
    )
  }
  if (job.status === 'failed') {
    return (
      <Notice
        className="mt-4"
        tone="bad"
        text={
          <>
            <span className="font-medium">{text.failed[job.kind]}.</span> <span>{job.reason}</span>
          </>
        }
      />
    )
  }
  return (
    <>
      <p className="mt-4 text-sm text-muted" role="status">
        {text.done[job.kind]}
        {job.name ? <span className="font-mono break-all"> {job.name}</span> : null}
      </p>
      {job.reason ? <Notice className="mt-4" tone="bad" text={job.reason} /> : null}
    </>
  )
}

/** Uploads a backup. It may be large, so it is sent as it is and with its progress. */
function UploadButton() {
  const { backup: text } = useText(machineText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const input = useRef<HTMLInputElement>(null)
  const [share, setShare] = useState<number>()
  const upload = useMutation({
    mutationFn: (file: File) => send(file, setShare),
    onSuccess: () => toast(text.uploaded),
    onError: say,
    onSettled: () => {
      setShare(undefined)
      return queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey })
    },
  })
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".gz,.age"
        aria-label={text.upload}
        tabIndex={-1}
        className="sr-only"
        onChange={(event) => {
          const file = event.target.files?.[0]
          event.target.value = ''
          if (file) upload.mutate(file)
        }}
      />
      <Button
        isPending={upload.isPending}
        icon={<Upload size={14} aria-hidden />}
        onClick={() => input.current?.click()}
      >
        {text.upload}
      </Button>
      {upload.isPending ? <Progress label={text.uploading} value={share} className="mt-2" /> : null}
    </>
  )
}

/** fetch does not report the progress of an upload; XMLHttpRequest does. */
function send(file: File, onProgress: (share: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', '/api/cockpit/backup/upload')
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.setRequestHeader('accept-language', getLanguage())
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total)
    request.onerror = () => reject(new Error('the upload broke off'))
    request.onload = () => {
      if (request.status < 300) return resolve()
      const response = new Response(null, { status: request.status })
      let body: unknown
      try {
        body = JSON.parse(request.responseText)
      } catch {
        body = undefined
      }
      reject(new ProblemError(problemIn(body, response)))
    }
    request.send(file)
  })
}
