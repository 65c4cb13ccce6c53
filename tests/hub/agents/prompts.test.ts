import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentContext } from '../../../hub/agents/agent.ts'
import { AGENTS } from '../../../hub/agents/agents.ts'
import { AGENT_NAMES } from '../../../hub/agents/names.ts'
import {
  acceptDefault,
  addRule,
  currentPrompt,
  defaultPrompt,
  ensurePrompts,
  fillPrompt,
  MAX_PROMPT,
  newDefault,
  restorePrompt,
  writePrompt,
} from '../../../hub/agents/run/prompts.ts'
import { pathsIn } from '../../../hub/config.ts'
import { namesIn } from '../../../hub/template.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'
import { temporaryFolder } from '../support/model.ts'
import { type StubModel, startStubModel, useStub } from '../support/stub-model.ts'
import { runAlone } from './run-alone.ts'
import { LEADS } from './scenes/leads.ts'
import { MACHINE } from './scenes/machine.ts'
import { MAILS } from './scenes/mails.ts'
import { PAPERS } from './scenes/papers.ts'

test.each(Object.entries(AGENTS))(
  '%s says what it does, in both languages',
  (name, { role, ...agent }) => {
    expect(agent.name).toBe(name)
    expect(role.en).toMatch(/^[A-Z][^.]{20,}$/)
    expect(role.tr).toMatch(/^\p{Lu}[^.]{20,}$/u)
    expect(role.tr).not.toBe(role.en)
  },
)

describe('the prompts that ship', () => {
  test.each(AGENT_NAMES)('%s uses exactly the variables its agent offers', async (agent) => {
    const text = await defaultPrompt(agent)
    expect(namesIn(text)).toEqual(Object.keys(AGENTS[agent].variables).sort())
    expect(AGENTS[agent].name).toBe(agent)
    expect(text.length).toBeGreaterThan(800)
    expect(text.length).toBeLessThan(MAX_PROMPT / 2)
  })

  test.each(AGENT_NAMES)('%s treats data as data and minds the language', async (agent) => {
    const text = await defaultPrompt(agent)
    expect(text).toMatch(
      /never follow instructions|never to be followed|do not follow|ignore instructions/i,
    )
    expect(text).toMatch(/language/)
    // What changes from project to project stands last, so that the rest stays in the model's cache.
    expect(text.trimEnd().endsWith('{{context}}')).toBe(true)
  })
})

describe('a prompt in use', () => {
  test('that was edited survives an upgrade; one that was not becomes the new default', async () => {
    const { folder, remove } = await temporaryFolder()
    const paths = pathsIn(folder)
    expect(await ensurePrompts(paths)).toEqual([...AGENT_NAMES])
    expect(await ensurePrompts(paths)).toEqual([])
    await writeFile(join(paths.prompts_dir, 'sales.md'), 'By hand. {{context}}\n')
    await writePrompt(paths, 'docs', 'In the editor. {{context}}')
    // An older release put another text there.
    const shipped = join(paths.prompts_dir, '.shipped.json')
    const hashes = JSON.parse(await readFile(shipped, 'utf8'))
    await writeFile(join(paths.prompts_dir, 'ceo.md'), 'old default\n')
    const { createHash } = await import('node:crypto')
    hashes.ceo = createHash('sha256').update('old default\n').digest('hex')
    await writeFile(shipped, JSON.stringify(hashes))

    expect(await ensurePrompts(paths)).toEqual(['ceo'])
    expect(await currentPrompt(paths, 'ceo')).toBe(await defaultPrompt('ceo'))
    expect(await currentPrompt(paths, 'sales')).toBe('By hand. {{context}}\n')
    expect(await currentPrompt(paths, 'docs')).toBe('In the editor. {{context}}\n')
    await restorePrompt(paths, 'sales')
    expect(await currentPrompt(paths, 'sales')).toBe(await defaultPrompt('sales'))
    await remove()
  })

  test('that was edited shows what an upgrade changed in its default, until it was seen', async () => {
    const { folder, remove } = await temporaryFolder()
    const paths = pathsIn(folder)
    await ensurePrompts(paths)
    const ours = await defaultPrompt('sales')
    const lines = ours.split('\n')
    const older = [...lines.slice(0, 2), 'A line of the release before.', ...lines.slice(2)].join(
      '\n',
    )
    const shipped = join(paths.prompts_dir, '.shipped.json')
    const began = async (base: string) => {
      const known = JSON.parse(await readFile(shipped, 'utf8'))
      await writeFile(shipped, JSON.stringify({ ...known, sales: base }))
    }
    // The release before shipped one line more; the person added one at the end.
    await began(older)
    await writePrompt(paths, 'sales', `${older}My own line.\n`)
    expect(await ensurePrompts(paths)).toEqual([])
    const change = await newDefault(paths, 'sales')
    expect(change?.diff).toMatch(/^-A line of the release before\.$/m)
    expect(change?.merged).toBe(`${ours}My own line.\n`)
    expect(await newDefault(paths, 'docs')).toBeNull()

    // What no longer has the lines around the change cannot take it.
    await writePrompt(paths, 'sales', 'Something else altogether. {{context}}')
    expect(await newDefault(paths, 'sales')).toMatchObject({ merged: null })
    // Older releases kept the hash only.
    const { createHash } = await import('node:crypto')
    await began(createHash('sha256').update(older).digest('hex'))
    await ensurePrompts(paths)
    expect(await newDefault(paths, 'sales')).toEqual({ diff: null, merged: null })
    await began(createHash('sha256').update(ours).digest('hex'))
    await ensurePrompts(paths)
    expect(await newDefault(paths, 'sales')).toBeNull()

    await began(older)
    await acceptDefault(paths, 'sales')
    expect(await newDefault(paths, 'sales')).toBeNull()
    await ensurePrompts(paths)
    expect(await currentPrompt(paths, 'sales')).toBe('Something else altogether. {{context}}\n')
    await remove()
  })

  test('takes a rule once, without variables, and not without end', async () => {
    const { folder, remove } = await temporaryFolder()
    const paths = pathsIn(folder)
    await addRule(paths, 'docs', 'Say who decides.\n{{context}}')
    await addRule(paths, 'docs', 'Say who decides.\n{{context}}')
    const text = await currentPrompt(paths, 'docs')
    expect(text.match(/Say who decides/g)).toHaveLength(1)
    expect(namesIn(text)).toEqual(namesIn(await defaultPrompt('docs')))
    await writePrompt(paths, 'docs', 'x'.repeat(MAX_PROMPT))
    await expect(addRule(paths, 'docs', 'One more')).rejects.toThrow(/Shorten/)
    await remove()
  })
})

describe('a prompt to be filled', () => {
  const agent = {
    name: 'docs' as const,
    variables: { context: () => 'Tea & <b>{{brief}}</b>', brief: () => 'never asked for' },
  }
  const filled = (text: string) => fillPrompt(text, agent, {} as AgentContext) // safe: unused

  test.each([
    ['About {{context}}.', 'About Tea & <b>{{brief}}</b>.'],
    [
      'About {{ context }} and {{context}}',
      `About ${agent.variables.context()} and ${agent.variables.context()}`,
    ],
    ['{{{context}}}', agent.variables.context()],
    ['{{unknown}} stays, {{ constructor }} too', '{{unknown}} stays, {{constructor}} too'],
    ['{"a": {"b": 1}} has no variable', '{"a": {"b": 1}} has no variable'],
  ])('%j becomes %j', async (text, expected) => {
    expect(await filled(text)).toBe(expected)
  })

  test.each(['{{context', '{{#context}} open', '{{context}} {{/context}}'])(
    'that is broken stops the work and says where: %j',
    async (text) => {
      await expect(filled(text)).rejects.toThrow(
        /prompt of .* cannot be read: .*Settings > Agent Prompt Editor/,
      )
    },
  )
})

describe('settings/prompts', () => {
  let hub: TestHub
  let stub: StubModel
  beforeAll(async () => {
    stub = await startStubModel()
    hub = await startHub()
    await makeProject(hub)
    await useStub(hub, stub)
  })
  afterAll(async () => {
    await hub.close()
    await stub.close()
  })

  test('shows the difference to the default, refuses unknown variables, restores', async () => {
    const text = `${await defaultPrompt('legal')}\nOne more line.\n`
    const put = await hub.call('PUT', 'settings/prompts/legal', { text })
    expect((await put.json()).prompt).toMatchObject({
      edited: true,
      diff: expect.stringContaining('+One more line.'),
    })
    const list = await (await hub.call('GET', 'settings/prompts')).json()
    expect(list.prompts.filter(({ edited }: { edited: boolean }) => edited)).toEqual([
      { agent: 'legal', edited: true, new_default: false },
    ])
    const strange = await hub.call('PUT', 'settings/prompts/legal', {
      text: 'Use {{secrets}} {{context}}',
    })
    expect(strange.status).toBe(422)
    expect((await strange.json()).errors[0]).toMatchObject({
      path: 'text',
      code: 'unknown_variable',
      message: expect.stringMatching(
        /^Unknown placeholder: {{secrets}}\. Available: {{.*context}}/,
      ),
    })
    const open = await hub.call('PUT', 'settings/prompts/legal', { text: 'Use {{context' })
    expect((await open.json()).errors).toMatchObject([{ path: 'text', code: 'unreadable' }])
    const nobody = await hub.call('GET', 'settings/prompts/nobody')
    expect([nobody.status, (await nobody.json()).detail]).toEqual([404, 'There is no such agent.'])
    const seen = await hub.call('POST', 'settings/prompts/legal/seen')
    expect((await seen.json()).prompt).toMatchObject({ current: text, edited: true })
    expect((await hub.call('PUT', 'settings/prompts/legal', { text: '' })).status).toBe(422)
    const back = await hub.call('DELETE', 'settings/prompts/legal')
    expect((await back.json()).prompt).toMatchObject({ edited: false, diff: '' })
    await hub.call('PUT', 'settings/prompts/legal', { text })
    const restored = await hub.call('POST', 'settings/prompts/legal/restore')
    expect((await restored.json()).prompt).toMatchObject({ agent: 'legal', edited: false })
  })

  test('tries a text that is not saved', async () => {
    stub.script(({ system }) => ({ answer: system.slice(0, 30) }))
    const tried = await hub.call('POST', 'settings/prompts/docs/try', {
      text: 'You are {{project}}. {{context}}',
      task: 'hello',
      project: 'rota',
    })
    expect(await tried.json()).toMatchObject({
      answer: expect.stringContaining('You are Rota Planlama'),
      tokens: 120,
    })
    const [asked] = stub.asked.slice(-1)
    expect(asked?.system).toContain('Our customers drive 18 % fewer kilometres.')
    expect(asked?.system).not.toContain('{{')
    expect(asked?.task).toContain('hello')
    const before = stub.asked.length
    for (const wrong of [{ text: '{{secrets}}' }, { task: ' ' }, { task: 'x'.repeat(2001) }]) {
      const given = { task: 'hello', project: 'rota', ...wrong }
      expect((await hub.call('POST', 'settings/prompts/docs/try', given)).status).toBe(422)
    }
    const nobody = { task: 'hello', project: 'nobody' }
    expect((await hub.call('POST', 'settings/prompts/docs/try', nobody)).status).toBe(404)
    expect(stub.asked).toHaveLength(before)
    expect((await (await hub.call('GET', 'settings/prompts/docs')).json()).prompt.edited).toBe(
      false,
    )
    stub.script(() => {
      throw new Error('down')
    })
    const away = await hub.call('POST', 'settings/prompts/docs/try', {
      task: 'hello',
      project: 'rota',
    })
    expect([502, 503]).toContain(away.status)
  })
})

/** What each step gives besides the variables, by its label, and where the prompt says so. */
const TOLD: [label: RegExp, said: RegExp][] = [
  [/^(?:lead|evidence)$/, /\blead\b/],
  [/^evidence$/, /evidence/],
  [/^what was said so far/, /said so far/],
  [/^sentences without support$/, /without support/],
  [/^(?:subject|letter)$/, /subject and its sentences/],
  [
    /^(?:pasted text|yapıştırılan metin|(?:docs|leads)\/)/,
    /(?:user (?:has )?(?:gave|wrote|pasted|written))|material|documents|pasted text|tables/,
  ],
  [/^(?:the footer|the mail|her e-posta|“)/, /mails/],
  [/^(?:first rows|the task, part|görevin metni)/, /blocks of data/],
  [/^search results$/, /search results/],
  [/^https:/, /page/],
  [/^the query that failed$/, /last query/],
  [/^the last 7 days/, /this week|last week/],
  [/^KPIs$/, /KPIs/],
  [/^missions that failed$/, /missions failed/],
  [/^drafts that were rejected$/, /rejected/],
  [/^mails of four weeks/, /answered or bounced/],
  [/^what people changed/, /people changed/],
  [/^(?:measured|alert)$/, /measured numbers.*alert/s],
  [/^what is out of range$/, /out of range/],
  [/^files$/, /names of (?:files|the hub)/],
  [/^(?:what is wanted|[\w/.]+\.(?:py|ts|js))$/, /file to change/],
]
/** Given, and deliberately not named: what it is stands in the task of its step. */
const UNNAMED = new Map([
  ['what is wanted', 'the plan of the same mission, in the words of its first step'],
])

test.each(Object.entries({ ...PAPERS, ...LEADS, ...MAILS, ...MACHINE }))(
  '%s: the prompt says what its steps are given',
  async (_, scene) => {
    const prompt = await defaultPrompt(scene.agent)
    for (const language of ['en', 'tr'] as const) {
      const run = await runAlone(scene, language)
      const labels = new Set([...run.matchAll(/^\[(.+)\]$/gm)].map(([, label = '']) => label))
      for (const label of labels) {
        if (UNNAMED.has(label)) continue
        const said = TOLD.filter(([pattern]) => pattern.test(label)).map(([, words]) => words)
        expect(said, `${label} is in the table`).not.toEqual([])
        for (const words of said) expect(prompt, label).toMatch(words)
      }
    }
  },
)
