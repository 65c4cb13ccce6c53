import { Pause, Play } from 'lucide-react'
import { Button } from '../../../../web/ui/button.tsx'
import { Notice } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Progress } from '../../../../web/ui/progress.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { stepsText } from './drafts.text.ts'
import { type Draft, useStep } from './queries.ts'
import { Unclear } from './unclear.tsx'

/** The state of a draft with its reason, and the progress of its mails. */
export function DraftProgress({ draft, isReadOnly }: { draft: Draft; isReadOnly: boolean }) {
  const text = useText(stepsText)
  const { state } = draft
  return (
    <div className="flex flex-col gap-3">
      <p className="text-pretty text-muted">{text.says[state]}</p>
      {draft.state_reason ? (
        <Notice
          tone={state === 'failed' || state === 'unclear' ? 'bad' : 'plain'}
          text={draft.state_reason}
        />
      ) : null}
      {state === 'sending' ? <Sending draft={draft} isReadOnly={isReadOnly} /> : null}
      {state === 'unclear' ? <Unclear draft={draft} isReadOnly={isReadOnly} /> : null}
    </div>
  )
}

function Sending({ draft, isReadOnly }: { draft: Draft; isReadOnly: boolean }) {
  const text = useText(stepsText)
  const { progress, paused_at } = draft
  const { mutate, isPending } = useStep(paused_at ? 'resume' : 'pause', draft.id)
  const counts = (['waiting', 'skipped', 'failed', 'unclear'] as const).filter(
    (key) => progress[key] > 0,
  )
  const Icon = paused_at ? Play : Pause
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-baseline justify-between">
        <span className="font-medium" data-numbers>
          {text.of(progress.sent, progress.total)}
        </span>
        <span className="text-sm text-muted">
          {paused_at ? (
            text.paused
          ) : draft.retry_at ? (
            <>
              {text.waits_until} <Time at={draft.retry_at} />
            </>
          ) : null}
        </span>
      </div>
      <Progress label={text.progress} value={progress.sent} max={progress.total} />
      {counts.length > 0 ? (
        <p className="text-sm text-muted">
          {counts.map((key) => text.counts[key](progress[key])).join(' · ')}
        </p>
      ) : null}
      <div>
        <Button
          icon={<Icon size={14} aria-hidden />}
          disabled={isReadOnly}
          isPending={isPending}
          onClick={() => mutate()}
        >
          {paused_at ? text.resume : text.pause}
        </Button>
      </div>
    </div>
  )
}
