import { Link } from 'wouter'
import type { Channel } from '../../api/queries.ts'
import { Input } from '../../ui/field.tsx'
import { FormField, FormGroup, Notice } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { ChannelChoices } from './channel-choices.tsx'
import type { Draft } from './draft.ts'
import { MAX_STEP_MINUTES, MAX_STEPS, type StepDraft, silenceOf, withStep } from './draft-rules.ts'
import { escalationText } from './escalation.text.ts'
import { Rows } from './rows.tsx'
import { zonesText } from './zones.text.ts'

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }
type Channels = readonly Channel[] | undefined

/** Whom an alert is told that nobody acknowledges, and when. */
export function Escalation({ draft, change, channels }: Part & { channels: Channels }) {
  const text = useText(escalationText)
  const { steps } = draft
  return (
    <FormGroup name="escalation" label={text.title}>
      <Rows
        add={text.add}
        limit={steps.length < MAX_STEPS ? undefined : text.most(MAX_STEPS)}
        hint={steps.length === 0 ? text.none : undefined}
        onAdd={() => change({ steps: withStep(steps) })}
        rows={steps.map((step, nth) => ({
          key: step.key,
          label: text.step(nth + 1),
          remove: text.remove(nth + 1),
          onRemove: () => change({ steps: steps.filter((one) => one !== step) }),
          children: (
            <Step
              nth={nth}
              step={step}
              channels={channels}
              onChange={(part) =>
                change({ steps: steps.map((one) => (one === step ? { ...one, ...part } : one)) })
              }
            />
          ),
        }))}
      />
    </FormGroup>
  )
}

function Step({
  nth,
  step,
  channels,
  onChange,
}: {
  nth: number
  step: StepDraft
  channels: Channels
  onChange: (part: Partial<StepDraft>) => void
}) {
  const text = useText(escalationText)
  const zones = useText(zonesText)
  const silence = channels && silenceOf(step, channels)
  return (
    <div className="flex flex-col gap-3">
      <FormField name={`escalation.${nth}.after_minutes`} label={text.after}>
        <Input
          type="number"
          min={1}
          max={MAX_STEP_MINUTES}
          value={step.after_minutes}
          onChange={({ target }) => onChange({ after_minutes: target.value })}
        />
      </FormField>
      <FormGroup name={`escalation.${nth}.channel_ids`} label={text.channels}>
        <ChannelChoices
          label={text.channels}
          channels={channels}
          chosen={step.channel_ids}
          onChange={(channel_ids) => onChange({ channel_ids })}
        />
        {channels?.length === 0 ? (
          <p className="text-sm text-muted">
            {zones.no_channels}{' '}
            <Link href="/channels/new" className="text-accent-text underline">
              {zones.add_channel}
            </Link>
          </p>
        ) : null}
      </FormGroup>
      {silence ? <Notice tone="warn" text={text.silences[silence]} /> : null}
    </div>
  )
}
