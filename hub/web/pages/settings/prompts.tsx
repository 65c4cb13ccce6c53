import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createTwoFilesPatch } from 'diff'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { projectsQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { DiffView } from '../drafts/diff-view.tsx'
import { AGENTS, AgentMark, type AgentName } from '../missions/agents.tsx'
import { missionsText } from '../missions/missions.text.ts'
import { agentsQuery } from '../missions/queries.ts'
import { May } from './may.tsx'
import { promptsText } from './prompts.text.ts'
import { Card, Section } from './section.tsx'

const LIST = ['settings', 'prompts']

/** What agents may do, and the editor of their prompts. */
export function Prompts() {
  const text = useText(promptsText)
  const { agents } = useText(missionsText)
  const [search, setSearch] = useSearchParams()
  const agent = AGENTS.find((name) => name === search.get('agent')) ?? 'research'
  const edited = useQuery({
    queryKey: LIST,
    queryFn: async () => (await ok(api.GET('/api/cockpit/settings/prompts'))).prompts,
  })
  const isEdited = (name: AgentName) =>
    edited.data?.some((one) => one.agent === name && one.edited) ?? false
  const hasNewDefault = (name: AgentName) =>
    edited.data?.some((one) => one.agent === name && one.new_default) ?? false
  return (
    <Section title={text.title} text={text.text}>
      <May />
      <Card title={text.prompts}>
        <div className="mb-4 flex flex-wrap gap-1.5">
          {AGENTS.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === agent}
              onClick={() => setSearch({ agent: name }, { replace: true })}
              className={cn(
                'flex h-8 items-center gap-1.5 rounded-full border pr-3 pl-1.5 text-sm pointer-coarse:h-10',
                name === agent
                  ? 'border-line-strong bg-hover font-medium'
                  : 'border-line text-muted hover:text-fg',
              )}
            >
              <AgentMark agent={name} size={20} />
              {agents[name]}
              {isEdited(name) ? (
                <span
                  className={cn(
                    'size-1.5 rounded-full',
                    hasNewDefault(name) ? 'bg-accent' : 'bg-warn',
                  )}
                  role="img"
                  aria-label={hasNewDefault(name) ? text.new_default : text.edited}
                />
              ) : null}
            </button>
          ))}
        </div>
        <OnePrompt key={agent} agent={agent} />
      </Card>
    </Section>
  )
}

function OnePrompt({ agent }: { agent: AgentName }) {
  const query = useQuery({
    queryKey: [...LIST, agent],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/settings/prompts/{agent}', { params: { path: { agent } } })))
        .prompt,
  })
  if (query.isPending) return <SkeletonRows rows={5} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  return <Editor agent={agent} prompt={query.data} />
}

function Editor({ agent, prompt }: { agent: AgentName; prompt: Schemas['Prompt'] }) {
  const text = useText(promptsText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const say = useToastError()
  const role = useQuery(agentsQuery).data?.find(({ name }) => name === agent)?.role
  /** Undefined: nothing that is not saved. */
  const [typed, setTyped] = useState<string>()
  if (typed === prompt.current) setTyped(undefined)
  const draft = typed ?? prompt.current
  const [view, setView] = useState<keyof typeof text.views>('edit')
  const refresh = () => queryClient.invalidateQueries({ queryKey: LIST })
  const restore = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/cockpit/settings/prompts/{agent}/restore', { params: { path: { agent } } }),
      ),
    onSuccess: () => {
      setTyped(undefined)
      toast(text.restored)
    },
    onError: say,
    onSettled: refresh,
  })
  const isChanged = draft !== prompt.current
  const views = Object.entries(text.views) as [keyof typeof text.views, string][] // safe: our own keys
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 text-sm text-muted">{role}</p>
        <Badge tone={prompt.edited || isChanged ? 'warn' : 'plain'}>
          {isChanged ? text.unsaved : prompt.edited ? text.edited : text.unchanged}
        </Badge>
      </div>
      {prompt.new_default ? (
        <NewDefault
          agent={agent}
          change={prompt.new_default}
          onTake={(merged) => {
            setTyped(merged)
            setView('edit')
            toast(text.taken)
          }}
        />
      ) : null}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be one row everywhere */}
      <div role="group" aria-label={text.prompt} className="flex gap-4 border-b border-line">
        {views.map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-pressed={view === name}
            onClick={() => setView(name)}
            className={cn(
              '-mb-px border-b-2 py-2 text-sm font-medium',
              view === name ? 'border-fg' : 'border-transparent text-muted hover:text-fg',
            )}
          >
            {label}
          </button>
        ))}
      </div>
      {view === 'edit' ? (
        <ApiForm
          className="flex flex-col gap-4"
          onSubmit={async () => {
            const params = { path: { agent } }
            const body = { text: draft }
            await ok(api.PUT('/api/cockpit/settings/prompts/{agent}', { params, body }))
            await refresh()
            // What was typed since stays.
            setTyped((now) => (now === draft ? undefined : now))
            toast(words.saved)
          }}
        >
          <FormField
            name="text"
            label={text.prompt}
            hint={`${text.variables} ${prompt.variables.map((name) => `{{${name}}}`).join(', ')}`}
          >
            <Textarea
              rows={16}
              spellCheck={false}
              className="max-h-[32rem]! font-mono text-sm!"
              value={draft}
              onChange={(event) => setTyped(event.target.value)}
            />
          </FormField>
          <FormError />
          <Actions className="mt-0">
            <Button
              disabled={!prompt.edited}
              isPending={restore.isPending}
              onClick={() => restore.mutate()}
            >
              {text.restore}
            </Button>
            <Submit disabled={!isChanged}>{words.save}</Submit>
          </Actions>
        </ApiForm>
      ) : view === 'diff' ? (
        draft === prompt.default ? (
          <p className="text-muted">{text.no_diff}</p>
        ) : (
          <DiffView
            patch={createTwoFilesPatch('default', 'now', prompt.default, draft, '', '', {
              context: 2,
            })}
          />
        )
      ) : (
        <Try agent={agent} prompt={draft} />
      )}
    </div>
  )
}

/** What an upgrade changed in the default of this edited prompt. */
function NewDefault({
  agent,
  change,
  onTake,
}: {
  agent: AgentName
  change: NonNullable<Schemas['Prompt']['new_default']>
  onTake: (merged: string) => void
}) {
  const text = useText(promptsText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const keep = useMutation({
    mutationFn: () =>
      ok(api.POST('/api/cockpit/settings/prompts/{agent}/seen', { params: { path: { agent } } })),
    onSuccess: () => toast(text.kept),
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: LIST }),
  })
  const { diff, merged } = change
  return (
    <section aria-label={text.new_default} className="flex flex-col gap-3">
      <Notice text={diff === null ? text.new_default_unknown : text.new_default_text} />
      {diff === null ? null : <DiffView patch={diff} />}
      {diff !== null && merged === null ? (
        <p className="text-sm text-muted">{text.no_fit}</p>
      ) : null}
      <Actions className="mt-0">
        <Button isPending={keep.isPending} onClick={() => keep.mutate()}>
          {text.keep}
        </Button>
        {merged === null ? null : (
          <Button variant="secondary" onClick={() => onTake(merged)}>
            {text.take}
          </Button>
        )}
      </Actions>
    </section>
  )
}

function Try({ agent, prompt }: { agent: AgentName; prompt: string }) {
  const text = useText(promptsText)
  const language = useLanguage()
  const projects = useQuery(projectsQuery).data
  const project = projects?.find(({ active }) => active) ?? projects?.[0]
  const [tried, setTried] = useState<{ answer: string; tokens: number }>()
  if (!project) return <p className="text-muted">{text.no_project}</p>
  return (
    <ApiForm
      className="flex flex-col gap-4"
      onSubmit={async ({ task = '' }) => {
        setTried(undefined)
        setTried(
          await ok(
            api.POST('/api/cockpit/settings/prompts/{agent}/try', {
              params: { path: { agent } },
              body: { text: prompt, task, project: project.slug },
            }),
          ),
        )
      }}
    >
      <FormField name="task" label={text.task} hint={text.try_text}>
        <Textarea rows={2} maxLength={2000} defaultValue={text.task_example} />
      </FormField>
      {tried ? (
        <Notice
          text={
            <>
              <p className="break-words whitespace-pre-wrap">{tried.answer}</p>
              <p className="mt-1 text-sm text-muted">
                {text.answered(number(language, tried.tokens))}
              </p>
            </>
          }
        />
      ) : null}
      <FormError />
      <Actions className="mt-0">
        <Submit variant="secondary">{text.try}</Submit>
      </Actions>
    </ApiForm>
  )
}
