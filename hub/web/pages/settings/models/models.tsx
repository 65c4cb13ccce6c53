import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  ApiForm,
  FailedQuery,
  hasFailed,
  useToastError,
} from '../../../../../web/shared/errors.tsx'
import { Badge } from '../../../../../web/ui/badge.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { Input, SecretInput, Textarea } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../../web/ui/form.tsx'
import { bytes, number, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../../web/ui/states.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { numberOf } from '../../../../leads/cells.ts'
import { api, ok } from '../../../api/client.ts'
import { type ModelsOverview, modelsQuery } from '../../../api/queries.ts'
import { Card, Section } from '../section.tsx'
import { ModelAddress } from './model-address.tsx'
import { ModelPresets } from './model-presets.tsx'
import { modelsText } from './models.text.ts'

/** The language model that the agents use. */
export function Models() {
  const text = useText(modelsText)
  return (
    <Section title={text.title} text={text.text}>
      <ModelChoice />
    </Section>
  )
}

/** The choice itself; also used in the wizard. */
function ModelChoice() {
  const query = useQuery(modelsQuery)
  if (query.isPending) return <SkeletonRows rows={8} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  return (
    <>
      <Now models={query.data} />
      <ModelPresets models={query.data} />
      <ModelAddress models={query.data} />
      <Local models={query.data} />
      <Endpoint models={query.data} />
      {query.data.state.state === 'ready' ? <Test /> : null}
    </>
  )
}

type Change =
  | { kind: 'none' }
  | { kind: 'local'; file: string; preset?: string }
  | { kind: 'endpoint'; url: string; model: string; api_key?: string }

/** useChoose makes the hub use a model. */
function useChoose() {
  const queryClient = useQueryClient()
  return async (body: Change) => {
    const models = await ok(api.PUT('/api/cockpit/settings/models', { body }))
    queryClient.setQueryData(modelsQuery.queryKey, models)
    void queryClient.invalidateQueries({ queryKey: ['today'] })
  }
}

const TONES = {
  none: 'warn',
  starting: 'warn',
  ready: 'good',
  crashed: 'bad',
  unreachable: 'bad',
} as const

function Now({ models: { state } }: { models: ModelsOverview }) {
  const text = useText(modelsText)
  const language = useLanguage()
  const say = useToastError()
  const choose = useChoose()
  const stop = useMutation({
    mutationFn: () => choose({ kind: 'none' }),
    onSuccess: () => toast(text.stopped),
    onError: say,
  })
  const facts = [
    state.memory_bytes ? text.memory(bytes(language, state.memory_bytes)) : '',
    state.kind !== 'none' && state.context_size > 0
      ? text.context(number(language, state.context_size), text.context_by[state.context_source])
      : '',
  ].filter(Boolean)
  return (
    <Card
      title={text.now}
      action={
        state.kind === 'none' ? null : (
          <Button size="sm" isPending={stop.isPending} onClick={() => stop.mutate()}>
            {text.stop}
          </Button>
        )
      }
    >
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[state.state]}>{text.states[state.state]}</Badge>
        <span className="min-w-0 font-medium break-words">{state.name ?? text.none}</span>
      </p>
      {facts.length > 0 ? <p className="mt-1 text-sm text-muted">{facts.join(' · ')}</p> : null}
      {state.detail && state.state !== 'ready' ? (
        <p className="mt-2 text-sm text-muted break-words">{state.detail}</p>
      ) : null}
    </Card>
  )
}

function Local({ models }: { models: ModelsOverview }) {
  const text = useText(modelsText)
  const choose = useChoose()
  const { settings, files } = models
  const names = files.map(({ name }) => name).join(', ')
  return (
    <Card title={text.local} text={text.local_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ file = '' }) => {
          await choose({ kind: 'local', file })
          toast(text.used)
        }}
      >
        <FormField name="file" label={text.file} hint={names ? text.files(names) : text.file_hint}>
          <Input
            className="font-mono"
            spellCheck={false}
            placeholder="model.gguf"
            defaultValue={settings.kind === 'local' ? settings.file : ''}
          />
        </FormField>
        <FormError />
        <Actions className="mt-0">
          <Submit variant="secondary">{text.save}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

function Endpoint({ models: { settings } }: { models: ModelsOverview }) {
  const text = useText(modelsText)
  const choose = useChoose()
  const now = settings.kind === 'endpoint' ? settings : undefined
  return (
    <Card title={text.endpoint} text={text.endpoint_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ url = '', model = '', api_key, context_size }) => {
          await choose({
            kind: 'endpoint',
            url,
            model,
            ...(api_key ? { api_key } : {}),
            ...(context_size ? { context_size: numberOf(context_size) ?? Number.NaN } : {}),
          })
          toast(text.used)
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="url" label={text.url}>
            <Input
              inputMode="url"
              spellCheck={false}
              placeholder="http://127.0.0.1:11434"
              defaultValue={now?.url}
            />
          </FormField>
          <FormField name="model" label={text.model}>
            <Input spellCheck={false} placeholder="qwen3:4b" defaultValue={now?.model} />
          </FormField>
          <FormField
            name="api_key"
            label={text.api_key}
            hint={now?.has_api_key ? text.api_key_kept : undefined}
            isOptional
          >
            <SecretInput />
          </FormField>
          <FormField
            name="context_size"
            label={text.context_size}
            hint={text.context_size_hint}
            isOptional
          >
            <Input inputMode="numeric" defaultValue={now?.context_size ?? ''} />
          </FormField>
        </div>
        <FormError />
        <Actions className="mt-0">
          <Submit variant="secondary">{text.save}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

type Tested = Awaited<ReturnType<typeof askModel>>
const askModel = (prompt: string) => ok(api.POST('/api/cockpit/model/test', { body: { prompt } }))

function Test() {
  const text = useText(modelsText)
  const language = useLanguage()
  const [tested, setTested] = useState<Tested>()
  const round = (value: number) => number(language, value, { maximumFractionDigits: 1 })
  return (
    <Card title={text.test} text={text.test_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ prompt = '' }) => {
          setTested(undefined)
          setTested(await askModel(prompt))
        }}
      >
        <FormField name="prompt" label={text.prompt}>
          <Textarea rows={2} maxLength={2000} defaultValue={text.prompt_example} />
        </FormField>
        {tested ? (
          <Notice
            text={
              <>
                <p className="break-words whitespace-pre-wrap">{tested.answer}</p>
                <p className="mt-1 text-sm text-muted" data-numbers>
                  {tested.tokens_per_second === null
                    ? text.seconds(round(tested.seconds))
                    : text.speed(round(tested.tokens_per_second), round(tested.seconds))}
                </p>
              </>
            }
          />
        ) : null}
        <FormError />
        <Actions className="mt-0">
          <Submit variant="secondary">{text.ask}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}
