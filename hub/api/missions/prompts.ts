import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { AGENTS } from '../../agents/agents.ts'
import { AGENT_NAMES, type AgentName, isAgentName } from '../../agents/names.ts'
import { languageOfTask, markOf, messageOf } from '../../agents/run/facts.ts'
import {
  acceptDefault,
  currentPrompt,
  defaultPrompt,
  MAX_PROMPT,
  newDefault,
  promptDiff,
  restorePrompt,
  writePrompt,
} from '../../agents/run/prompts.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { ModelError } from '../../model/model.ts'
import { readContext } from '../../projects/project-folder.ts'
import { namesIn } from '../../template.ts'
import { Slug } from '../projects/projects.ts'
import { promptsText } from './prompts.text.ts'

const Prompt = z
  .object({
    agent: z.enum(AGENT_NAMES),
    current: z.string(),
    default: z.string(),
    edited: z.boolean(),
    diff: z
      .string()
      .meta({ description: 'A unified diff from the default; empty when they are equal.' }),
    new_default: z
      .object({
        diff: z.string().nullable().meta({
          description:
            'A unified diff from the default that the edit began with; null if that text was not kept.',
        }),
        merged: z
          .string()
          .nullable()
          .meta({ description: 'The prompt in use with these changes; null if they do not fit.' }),
      })
      .nullable()
      .meta({
        description:
          'What an upgrade changed in the default of an edited prompt; null if nothing, or once it was seen.',
      }),
    variables: z
      .array(z.string())
      .meta({ description: 'The placeholders it can use, written {{name}}.' }),
  })
  .meta({ id: 'Prompt' })
const OnePrompt = z.object({ prompt: Prompt })
const Prompts = z.object({
  prompts: z.array(
    z.object({ agent: z.enum(AGENT_NAMES), edited: z.boolean(), new_default: z.boolean() }),
  ),
})

const AgentParam = z.object({ agent: z.string() })
const Text = z
  .string()
  .overwrite((text) => text.replaceAll('\0', '').replaceAll('\r\n', '\n'))
  .min(1)
  .max(MAX_PROMPT)

/** Settings > Agent Prompt Editor. */
export const prompts = resource<Env>()

prompts.openapi(
  createRoute({
    method: 'get',
    path: '/prompts',
    operationId: 'listPrompts',
    tags: ['Settings'],
    summary: 'List the prompts and whether they were edited',
    responses: { 200: jsonResponse(Prompts, 'All thirteen prompts.'), ...problems() },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const prompts = await Promise.all(
      AGENT_NAMES.map(async (agent) => {
        const [current, ours] = [await currentPrompt(paths, agent), await defaultPrompt(agent)]
        const change = await newDefault(paths, agent)
        return { agent, edited: current !== ours, new_default: change !== null }
      }),
    )
    return answer(c, Prompts, { prompts }, 200)
  },
)

prompts.openapi(
  createRoute({
    method: 'get',
    path: '/prompts/{agent}',
    operationId: 'getPrompt',
    tags: ['Settings'],
    summary: 'Get a prompt, its default and the difference',
    request: { params: AgentParam },
    responses: { 200: jsonResponse(OnePrompt, 'The prompt.'), ...problems(404) },
  }),
  async (c) => {
    const agent = known(c.req.valid('param').agent)
    return answer(c, OnePrompt, { prompt: await prompt(c, agent) }, 200)
  },
)

prompts.openapi(
  createRoute({
    method: 'put',
    path: '/prompts/{agent}',
    operationId: 'putPrompt',
    tags: ['Settings'],
    summary: 'Replace a prompt; upgrades do not change it',
    middleware: write,
    request: { params: AgentParam, body: jsonBody(z.strictObject({ text: Text })) },
    responses: { 200: jsonResponse(OnePrompt, 'Replaced.'), ...problems(404, 422) },
  }),
  async (c) => {
    const agent = known(c.req.valid('param').agent)
    const { text } = c.req.valid('json')
    requireVariables(agent, text)
    await writePrompt(c.get('deps').config.paths, agent, text)
    return answer(c, OnePrompt, { prompt: await prompt(c, agent) }, 200)
  },
)

for (const [method, path, operationId] of [
  ['delete', '/prompts/{agent}', 'deletePrompt'],
  ['post', '/prompts/{agent}/restore', 'restorePrompt'],
] as const) {
  prompts.openapi(
    createRoute({
      method,
      path,
      operationId,
      tags: ['Settings'],
      summary: 'Restore the default prompt',
      middleware: write,
      request: { params: AgentParam },
      responses: { 200: jsonResponse(OnePrompt, 'The default is in use.'), ...problems(404) },
    }),
    async (c) => {
      const agent = known(c.req.valid('param').agent)
      await restorePrompt(c.get('deps').config.paths, agent)
      return answer(c, OnePrompt, { prompt: await prompt(c, agent) }, 200)
    },
  )
}

prompts.openapi(
  createRoute({
    method: 'post',
    path: '/prompts/{agent}/seen',
    operationId: 'acceptDefaultPrompt',
    tags: ['Settings'],
    summary: 'Keep the edited prompt, having seen the new default',
    middleware: write,
    request: { params: AgentParam },
    responses: { 200: jsonResponse(OnePrompt, 'The prompt, as it was.'), ...problems(404) },
  }),
  async (c) => {
    const agent = known(c.req.valid('param').agent)
    await acceptDefault(c.get('deps').config.paths, agent)
    return answer(c, OnePrompt, { prompt: await prompt(c, agent) }, 200)
  },
)

const Tried = z.object({ answer: z.string(), tokens: z.int() })

prompts.openapi(
  createRoute({
    method: 'post',
    path: '/prompts/{agent}/try',
    operationId: 'tryPrompt',
    tags: ['Settings'],
    summary: 'Try a prompt without saving it',
    description:
      'Asks the model once and stores nothing. The answer is plain text; agents act on theirs in code.',
    request: {
      params: AgentParam,
      body: jsonBody(
        z.strictObject({
          text: Text.optional(),
          task: z.string().trim().min(1).max(2000),
          project: Slug,
        }),
      ),
    },
    responses: { 200: jsonResponse(Tried, 'The model’s answer.'), ...problems(404, 422) },
  }),
  async (c) => {
    const agent = known(c.req.valid('param').agent)
    const { text, task, project: slug } = c.req.valid('json')
    const { db, config, model } = c.get('deps')
    if (text !== undefined) requireVariables(agent, text)
    const project = await inProject(db, slug, async (_, found) => found)
    const prompt = text ?? (await currentPrompt(config.paths, agent))
    const brief = (await readContext(config.paths, slug)).slice(0, 6000)
    const values: Record<string, string> = { project: project.name, context: brief }
    const system = prompt.replace(
      /\{\{\s*([a-z_]+)\s*\}\}/g,
      (whole, name: string) => values[name] ?? whole,
    )
    const message = messageOf({
      facts: [],
      task: 'Answer in at most five sentences.',
      user_task: task,
      mark: markOf([{ label: '', text: task }]),
      language: languageOfTask(task),
      today: new Date().toISOString().slice(0, 10),
    })
    try {
      const { value, tokens } = await model.complete({
        schema: z.object({ answer: z.string().max(800) }),
        name: `try ${agent}`,
        system,
        task: message,
        priority: 'user',
        signal: c.req.raw.signal,
      })
      return answer(
        c,
        Tried,
        { answer: value.answer, tokens: tokens.prompt + tokens.completion },
        200,
      )
    } catch (error) {
      if (error instanceof ModelError) throw new ApiError('unavailable', error.words)
      throw error
    }
  },
)

function known(agent: string): AgentName {
  if (!isAgentName(agent)) throw absent('agent')
  return agent
}

function requireVariables(agent: AgentName, text: string): void {
  const offered = Object.keys(AGENTS[agent].variables)
  const strange = namesOf(text).filter((name) => !offered.includes(name))
  if (strange.length === 0) return
  const list = (names: string[]) => names.map((name) => `{{${name}}}`).join(', ')
  const message = bilingual(promptsText).not_offered(list(strange), list(offered))
  throw invalid([{ path: 'text', code: 'unknown_variable', message }])
}

function namesOf(text: string): string[] {
  try {
    return namesIn(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const message = bilingual(promptsText).unreadable(why)
    throw invalid([{ path: 'text', code: 'unreadable', message }])
  }
}

async function prompt(c: Ctx, agent: AgentName): Promise<z.infer<typeof Prompt>> {
  const { paths } = c.get('deps').config
  const [current, ours] = [await currentPrompt(paths, agent), await defaultPrompt(agent)]
  return {
    agent,
    current,
    default: ours,
    edited: current !== ours,
    diff: promptDiff(agent, ours, current),
    new_default: await newDefault(paths, agent),
    variables: Object.keys(AGENTS[agent].variables),
  }
}
