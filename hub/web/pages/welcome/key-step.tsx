import { useQuery } from '@tanstack/react-query'
import { LoaderCircle } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { connection, useConnection } from '../../../../web/shared/connection.ts'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { SecretInput } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { api, ok } from '../../api/client.ts'
import { healthQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { accessText } from '../access.text.ts'
import { Command, StepHead } from './step.tsx'
import type { StepProps } from './steps.ts'

/** The database key as a step of the wizard. */
export function KeyStep({ onDone, onSkip }: StepProps) {
  const text = useText(accessText).key
  const words = useText(common)
  return (
    <>
      <StepHead title={text.title} text={text.text} />
      <ServiceKeyForm
        onDone={onDone}
        second={
          <Button size="lg" onClick={onSkip}>
            {words.skip}
          </Button>
        }
      />
    </>
  )
}

const SLOW_MS = 30_000

/** Accepts a database key and waits for the restart that follows; also used in Settings. */
export function ServiceKeyForm({
  onDone,
  second,
}: {
  onDone: () => void
  second?: React.ReactNode
}) {
  const text = useText(accessText).key
  const state = useConnection()
  const health = useQuery(healthQuery)
  const [isWaiting, setWaiting] = useState(false)
  const [isSlow, setSlow] = useState(false)
  const finish = useRef(onDone)
  finish.current = onDone
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [isWaiting])
  const isBack = isWaiting && state === 'ok'
  const isWriter = health.data?.key_role === 'hub_rw'
  useEffect(() => {
    if (!isBack) return
    setWaiting(false)
    if (isWriter) finish.current()
  }, [isBack, isWriter])

  if (isWaiting) {
    return (
      <div
        role="status"
        className="flex items-start gap-3 rounded-panel border border-line bg-surface p-5"
      >
        <LoaderCircle size={20} className="spinner mt-0.5 text-muted" aria-hidden />
        <div>
          <p className="font-medium">{text.restarting}</p>
          <p className="text-muted">{isSlow ? text.slow : text.restarting_text}</p>
        </div>
      </div>
    )
  }
  return (
    <ApiForm
      className="flex flex-col gap-5"
      onSubmit={async ({ key = '' }) => {
        await ok(api.POST('/api/cockpit/settings/service_key', { body: { key } }))
        connection.set('restarting')
        setWaiting(true)
      }}
    >
      <div>
        <p className="text-sm text-muted">{text.where}</p>
        <Command>sudo watchpost-hub service-key show</Command>
        <p className="mt-1 text-sm text-muted">{text.where_else}</p>
      </div>
      <FormField name="key" label={text.label}>
        <SecretInput className="font-mono" placeholder="wph_service_…" />
      </FormField>
      <FormError />
      <Actions className="mt-2">
        {second}
        <Submit size={second ? 'lg' : 'md'}>{text.submit}</Submit>
      </Actions>
    </ApiForm>
  )
}
