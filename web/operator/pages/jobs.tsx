import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import type { OperatorJob, OperatorRedriven } from '../../../shared/schemas/operator.ts'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../shared/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { FormError, FormField, Submit } from '../../ui/form.tsx'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { Actions, Dialog } from '../../ui/layer.tsx'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { More } from '../../ui/lists/more.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { pagesQuery, post } from '../api.ts'
import { operatorText } from '../operator.text.ts'

/** The jobs that have failed for good: why, and what they were about. The queue stands in the address. */
export function JobsPage() {
  const text = useText(operatorText)
  const [, navigate] = useLocation()
  const queue = new URLSearchParams(useSearch()).get('queue') ?? ''
  const found = useInfiniteQuery(
    pagesQuery<'dead_jobs', OperatorJob>('jobs', queue ? { queue } : {}),
  )
  const jobs = found.data?.pages.flatMap((page) => page.dead_jobs) ?? []
  const redrive = useRedrive()
  if (found.isPending) return <SkeletonRows />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-pretty text-muted">
          {queue ? text.jobs_of(queue) : text.jobs_hint}
        </p>
        {queue ? <Button onClick={() => navigate('/jobs')}>{text.all_queues}</Button> : null}
        {jobs.length > 0 ? (
          <Button
            isPending={redrive.isPending}
            onClick={() => redrive.mutate(queue ? { queue } : {})}
          >
            {text.redrive_all}
          </Button>
        ) : null}
      </div>
      {jobs.length === 0 ? (
        <Empty
          picture={<CircleCheck size={24} strokeWidth={1.5} aria-hidden />}
          title={text.no_jobs}
          text={text.no_jobs_text}
        />
      ) : null}
      <ul>
        {jobs.map((job) => (
          <JobLine key={job.id} job={job} />
        ))}
      </ul>
      <More query={found} className="p-0" />
    </>
  )
}

function useRedrive() {
  const text = useText(operatorText)
  const language = useLanguage()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (which: { job?: string; queue?: string }) =>
      post<OperatorRedriven>('jobs/redrive', which),
    onSuccess: ({ redriven, remaining }) => {
      toast(text.redriven(number(language, redriven), number(language, remaining)))
      void client.invalidateQueries()
    },
    onError: useToastError(),
  })
}

function JobLine({ job }: { job: OperatorJob }) {
  const text = useText(operatorText)
  const redrive = useRedrive()
  const [isAsked, setAsked] = useState(false)
  return (
    <li className="flex flex-wrap items-start gap-3 border-t border-line py-3">
      <div className="min-w-0 flex-1 basis-72">
        <p className="break-words">
          <code className="font-sans">{job.error ?? text.no_reason}</code>
        </p>
        <FactsLine>
          <code className="font-sans">{job.queue ?? text.unknown}</code>
          <Time at={job.died_at} />
          {job.retries === null ? null : text.retries(job.retries)}
          <code className="text-xs break-all">{JSON.stringify(job.about)}</code>
        </FactsLine>
      </div>
      <div className="flex gap-2">
        {job.queue ? (
          <Button
            size="sm"
            isPending={redrive.isPending}
            onClick={() => redrive.mutate({ job: job.id })}
          >
            {text.redrive}
          </Button>
        ) : null}
        <Button size="sm" onClick={() => setAsked(true)}>
          {text.discard}
        </Button>
      </div>
      {isAsked ? <Discard job={job} onClose={() => setAsked(false)} /> : null}
    </li>
  )
}

function Discard({ job, onClose }: { job: OperatorJob; onClose: () => void }) {
  const text = useText(operatorText)
  const client = useQueryClient()
  return (
    <Dialog isOpen onClose={onClose} title={text.discard_title} description={text.discard_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ reason = '' }) => {
          await post(`jobs/${job.id}/discard`, { reason })
          toast(text.discarded)
          onClose()
          void client.invalidateQueries()
        }}
      >
        <FormField name="reason" label={text.reason} hint={text.reason_hint}>
          <Input maxLength={200} />
        </FormField>
        <FormError />
        <Actions className="mt-0">
          <Submit variant="danger">{text.discard}</Submit>
        </Actions>
      </ApiForm>
    </Dialog>
  )
}
