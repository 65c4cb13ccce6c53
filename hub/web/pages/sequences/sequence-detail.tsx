import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, Pause, PenLine, Play, Square, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Notice } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Tabs } from '../../../../web/ui/tabs.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { Approval } from './approval.tsx'
import { type DetailedSequence, sequenceQuery, useChange } from './queries.ts'
import { Recipients } from './recipients.tsx'
import { RemoveDialog } from './remove-dialog.tsx'
import { SequenceForm } from './sequence-form.tsx'
import { SequenceState } from './sequence-state.tsx'
import { sequencesText } from './sequences.text.ts'
import { StepMails } from './step-mails.tsx'
import { Timetable } from './timetable.tsx'

const VIEWS = ['mails', 'timetable', 'recipients'] as const

/** One sequence: its mails, when they go, who is in it, and what a person can do with it. */
export function SequenceDetail({ id, isReadOnly }: { id: string; isReadOnly: boolean }) {
  const { slug } = useProject()
  const query = useQuery(sequenceQuery(slug, id))
  if (query.isPending) {
    return (
      <div className="flex-1">
        <SkeletonRows rows={8} />
      </div>
    )
  }
  if (hasFailed(query)) {
    return (
      <div className="flex-1">
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      </div>
    )
  }
  return <Shown detailed={query.data} isReadOnly={isReadOnly} />
}

function Shown({ detailed, isReadOnly }: { detailed: DetailedSequence; isReadOnly: boolean }) {
  const text = useText(sequencesText)
  const { sequence } = detailed
  const [search, setSearch] = useSearchParams()
  const view = VIEWS.find((one) => one === search.get('view'))
  const shown = view ?? (sequence.started_at ? 'recipients' : 'mails')
  const unclear = sequence.steps.reduce((sum, { mails }) => sum + mails.unclear, 0)
  return (
    <article aria-label={sequence.name} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex flex-col gap-2 border-b border-line px-4 py-3 md:px-5">
        <div className="flex min-w-0 items-center gap-2">
          <Button
            variant="ghost"
            className="md:hidden"
            aria-label={text.back}
            icon={<ArrowLeft size={16} aria-hidden />}
            onClick={() => setSearch({})}
          />
          <h2 className="min-w-0 flex-1 truncate text-lg">{sequence.name}</h2>
          <SequenceState state={sequence.state} />
        </div>
        {sequence.agent ? (
          <p className="text-sm text-muted">{text.by_agent(sequence.agent)}</p>
        ) : null}
        {sequence.state_reason ? <Notice tone="warn" text={sequence.state_reason} /> : null}
        {unclear > 0 ? <Unclear detailed={detailed} count={unclear} /> : null}
        {isReadOnly ? null : <Steer detailed={detailed} />}
      </header>
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto xl:flex-row xl:overflow-hidden">
        <div className="flex min-h-[max(20rem,60dvh)] min-w-0 flex-1 flex-col xl:min-h-0">
          <Tabs
            label={text.view}
            value={shown}
            onChange={(value) => setSearch({ sequence: sequence.id, view: value })}
            tabs={[
              {
                value: 'mails',
                label: text.tabs.mails,
                count: sequence.steps.length,
                content: <StepMails sequence={sequence} />,
              },
              {
                value: 'timetable',
                label: text.tabs.timetable,
                content: <Timetable sequence={sequence} />,
              },
              {
                value: 'recipients',
                label: text.tabs.recipients,
                count: sequence.people.active + sequence.people.done + sequence.people.stopped,
                content: <Recipients sequence={sequence} isReadOnly={isReadOnly} />,
              },
            ]}
          />
        </div>
        <Approval detailed={detailed} isReadOnly={isReadOnly} />
      </div>
    </article>
  )
}

/** Mails whose outcome only a person can know. */
function Unclear({ detailed, count }: { detailed: DetailedSequence; count: number }) {
  const text = useText(sequencesText)
  const clear = useChange<'sent' | 'not_sent'>(detailed.sequence, (ref, outcome) =>
    ok(api.POST('/api/cockpit/sequence/clear', { body: { ...ref, outcome } })),
  )
  return (
    <div className="flex flex-col gap-2">
      <Notice tone="warn" text={text.unclear(count)} />
      <div className="flex flex-wrap gap-2">
        <Button size="sm" isPending={clear.isPending} onClick={() => clear.mutate('sent')}>
          {text.was_sent}
        </Button>
        <Button size="sm" isPending={clear.isPending} onClick={() => clear.mutate('not_sent')}>
          {text.not_sent}
        </Button>
      </div>
    </div>
  )
}

/** Editing, holding, stopping and deleting. */
function Steer({ detailed: { sequence } }: { detailed: DetailedSequence }) {
  const text = useText(sequencesText)
  const words = useText(common)
  const [, setSearch] = useSearchParams()
  const [asked, setAsked] = useState<'edit' | 'stop' | 'remove'>()
  const { state, started_at } = sequence
  const close = () => setAsked(undefined)
  const pause = useChange(sequence, (body) => ok(api.POST('/api/cockpit/sequence/pause', { body })))
  const resume = useChange(sequence, (body) =>
    ok(api.POST('/api/cockpit/sequence/resume', { body })),
  )
  const stop = useChange(
    sequence,
    (body) => ok(api.POST('/api/cockpit/sequence/stop', { body })),
    close,
  )
  const isOver = state === 'done' || state === 'stopped'
  const isOn = state === 'running' || state === 'paused'
  return (
    <div className="flex flex-wrap gap-2">
      {isOver ? null : (
        <Button size="sm" icon={<PenLine size={14} aria-hidden />} onClick={() => setAsked('edit')}>
          {text.edit}
        </Button>
      )}
      {state === 'running' ? (
        <Button
          size="sm"
          icon={<Pause size={14} aria-hidden />}
          isPending={pause.isPending}
          onClick={() => pause.mutate()}
        >
          {text.pause}
        </Button>
      ) : null}
      {state === 'paused' ? (
        <Button
          size="sm"
          icon={<Play size={14} aria-hidden />}
          isPending={resume.isPending}
          onClick={() => resume.mutate()}
        >
          {text.resume}
        </Button>
      ) : null}
      {isOn || (started_at && !isOver) ? (
        <Button size="sm" icon={<Square size={14} aria-hidden />} onClick={() => setAsked('stop')}>
          {text.stop}
        </Button>
      ) : null}
      {started_at ? null : (
        <Button
          size="sm"
          icon={<Trash2 size={14} aria-hidden />}
          onClick={() => setAsked('remove')}
        >
          {text.remove}
        </Button>
      )}
      <SequenceForm sequence={sequence} isOpen={asked === 'edit'} onClose={close} onSaved={close} />
      <RemoveDialog
        sequence={sequence}
        isOpen={asked === 'remove'}
        onClose={close}
        onRemoved={() => setSearch({})}
      />
      <Dialog
        isOpen={asked === 'stop'}
        onClose={close}
        title={text.stop_title}
        description={text.stop_text}
        size="sm"
      >
        <Actions>
          <Button onClick={close}>{words.cancel}</Button>
          <Button variant="danger" isPending={stop.isPending} onClick={() => stop.mutate()}>
            {text.stop}
          </Button>
        </Actions>
      </Dialog>
    </div>
  )
}
