import { expect, test } from 'vitest'
import type { z } from 'zod'
import type { AgentContext, Call } from '../../../../hub/agents/agent.ts'
import { AGENTS } from '../../../../hub/agents/agents.ts'
import { AGENT_NAMES } from '../../../../hub/agents/names.ts'
import { fillPrompt } from '../../../../hub/agents/run/prompts.ts'
import { ROUTER, whoDoesIt } from '../../../../hub/agents/run/router.ts'
import { namesIn } from '../../../../hub/template.ts'

const contextOf = (task: string, complete: unknown) =>
  ({ mission: { task }, project: { name: 'Rota' }, complete }) as unknown as AgentContext // safe: all that it reads

test('its prompt is its own, names every agent, and uses exactly its variables', async () => {
  expect(namesIn(ROUTER.prompt)).toEqual(Object.keys(ROUTER.variables).sort())
  const prompt = await fillPrompt(ROUTER.prompt, ROUTER, contextOf('', undefined))
  expect(prompt).toMatch(/^You hand out the work of Rota/)
  for (const name of AGENT_NAMES) expect(prompt).toContain(`${name}: ${AGENTS[name].role.en}`)
  expect(prompt).not.toContain('documentation agent')
})

test('the model chooses one agent, and sees which words point to whom', async () => {
  const asked: Call<z.ZodType>[] = []
  const context = contextOf(
    'the price of the machine, please',
    (_: string, call: Call<z.ZodType>) => {
      asked.push(call)
      return { agent: 'finance' }
    },
  )
  expect(await whoDoesIt(context)).toBe('finance')
  expect(asked[0]?.task).toMatch(/finance: price/)
  expect(asked[0]?.schema.safeParse({ agent: 'nobody' }).success).toBe(false)
})

test('where no word points to anybody, none is said', async () => {
  const asked: string[] = []
  const context = contextOf('hmm', (_: string, call: Call<z.ZodType>) => {
    asked.push(call.task)
    return { agent: 'docs' }
  })
  await whoDoesIt(context)
  expect(asked).toEqual(['Which agent should do what the user asked for?'])
})
