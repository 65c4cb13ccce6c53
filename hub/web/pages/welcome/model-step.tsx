import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Notice } from '../../../../web/ui/form.tsx'
import { bytes, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { Progress } from '../../../../web/ui/progress.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { modelsQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { setupText } from './setup.text.ts'
import { StepHead } from './step.tsx'
import type { StepProps } from './steps.ts'

/**
 * The choice of the language model: those that fit this machine, downloaded while the wizard
 * continues.
 */
export function ModelStep({ onDone, onSkip }: StepProps) {
  const { model: text } = useText(setupText)
  const query = useQuery(modelsQuery)
  return (
    <>
      <StepHead title={text.title} text={text.text} />
      {query.isPending ? (
        <SkeletonRows rows={3} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <Choice models={query.data} onDone={onDone} onSkip={onSkip} />
      )}
    </>
  )
}

function Choice({ models, onDone, onSkip }: StepProps & { models: Schemas['Models'] }) {
  const { model: text } = useText(setupText)
  const words = useText(common)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const say = useToastError()
  const { machine, presets, files, download, settings } = models
  const [chosen, setChosen] = useState(machine.recommended ?? files[0]?.name ?? '')
  const settled = () => queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey })
  const fetching = useMutation({
    mutationFn: (preset: string) =>
      ok(api.POST('/api/cockpit/model/download', { body: { preset, use: true } })),
    onError: say,
    onSettled: settled,
  })
  const using = useMutation({
    mutationFn: (file: string) =>
      ok(api.PUT('/api/cockpit/settings/models', { body: { kind: 'local', file } })),
    onSuccess: onDone,
    onError: say,
    onSettled: settled,
  })
  const isFile = files.some(({ name }) => name === chosen)
  const isRunning = download?.status === 'processing'
  const isUsed = settings.kind !== 'none'
  return (
    <>
      <p className="mb-4 text-pretty">{machine.why}</p>
      <div role="radiogroup" aria-label={text.choices} className="flex flex-col gap-2">
        {presets.map((preset) => (
          <Option
            key={preset.id}
            isChosen={chosen === preset.id}
            isDisabled={!preset.fits || isRunning}
            onChoose={() => setChosen(preset.id)}
            title={preset.name}
            detail={preset.about}
            badge={
              !preset.fits ? (
                <Badge tone="warn">{text.too_large}</Badge>
              ) : preset.is_recommended ? (
                <Badge tone="good">{text.recommended}</Badge>
              ) : null
            }
          />
        ))}
        {files.map((file) => (
          <Option
            key={file.name}
            isChosen={chosen === file.name}
            isDisabled={isRunning}
            onChoose={() => setChosen(file.name)}
            title={file.name}
            detail={bytes(language, file.bytes)}
            badge={<Badge>{text.here}</Badge>}
          />
        ))}
      </div>
      {isRunning ? (
        <div className="mt-5">
          <p className="mb-2 flex justify-between gap-3 text-sm">
            <span className="text-muted">{text.goes_on}</span>
            <span data-numbers>
              {text.progress(
                bytes(language, download.bytes),
                bytes(language, download.total_bytes ?? 0),
              )}
            </span>
          </p>
          <Progress
            label={text.progress_label}
            value={download.total_bytes ? download.bytes : undefined}
            max={download.total_bytes ?? 1}
          />
        </div>
      ) : null}
      {download?.status === 'failed' ? (
        <Notice
          tone="bad"
          className="mt-4"
          text={
            <>
              <span className="font-medium">{text.failed}.</span> <span>{download.error}</span>
            </>
          }
        />
      ) : null}
      <Actions>
        {isUsed || isRunning ? null : (
          <Button size="lg" onClick={onSkip}>
            {words.skip}
          </Button>
        )}
        {isRunning || isUsed ? (
          <Button size="lg" variant="primary" onClick={isUsed ? onDone : onSkip}>
            {words.next}
          </Button>
        ) : (
          <Button
            size="lg"
            variant="primary"
            disabled={chosen === ''}
            isPending={fetching.isPending || using.isPending}
            onClick={() => (isFile ? using.mutate(chosen) : fetching.mutate(chosen))}
          >
            {isFile ? text.use : text.download}
          </Button>
        )}
      </Actions>
    </>
  )
}

function Option(props: {
  isChosen: boolean
  isDisabled: boolean
  onChoose: () => void
  title: string
  detail: string
  badge: React.ReactNode
}) {
  const { isChosen, isDisabled, onChoose, title, detail, badge } = props
  return (
    <label
      className={cn(
        'flex items-start gap-3 rounded-panel border bg-surface px-4 py-3 transition-colors has-focus-visible:outline-2 has-focus-visible:outline-accent',
        isChosen ? 'border-accent' : 'border-line',
        isDisabled ? 'opacity-60' : 'hover:border-line-strong',
      )}
    >
      <input
        type="radio"
        name="model"
        className="sr-only"
        checked={isChosen}
        disabled={isDisabled}
        onChange={onChoose}
      />
      <span
        aria-hidden
        className={cn(
          'mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full border',
          isChosen ? 'border-accent bg-accent text-on-accent' : 'border-line-strong',
        )}
      >
        {isChosen ? <Check size={10} strokeWidth={4} /> : null}
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center gap-2 font-medium">
          <span className="break-all">{title}</span>
          {badge}
        </span>
        <span className="block text-sm text-muted text-pretty">{detail}</span>
      </span>
    </label>
  )
}
