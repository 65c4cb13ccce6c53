import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ModelError } from '../../../hub/model/model.ts'
import { startModel, until } from '../support/model.ts'

const Lead = z.object({
  name: z.string().max(12),
  size: z.enum(['small', 'large']),
  employees: z.int().nullable(),
  tags: z.array(z.string().max(5)).max(3),
  is_customer: z.boolean(),
})
const Word = z.object({ word: z.string().min(1).max(4) })
/** So long that it is never done before a test acts. */
const Long = z.object({ text: z.string().min(400).max(450) })
const prompt = { system: 'You are an agent.', task: 'Say something.', name: 'test' }

let started: Awaited<ReturnType<typeof startModel>>
beforeAll(async () => {
  started = await startModel()
  await started.model.ready()
})
afterAll(() => started.close())

async function refusal(call: Promise<unknown>): Promise<ModelError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ModelError)
  // safe: asserted on the line above
  return error as ModelError
}

describe('an answer', () => {
  test.each([1, 2, 3])('obeys its grammar and counts its tokens (seed %i)', async (seed) => {
    const { value, tokens, attempts } = await started.model.complete({
      ...prompt,
      schema: Lead,
      seed,
      temperature: 1,
    })
    expect(Lead.safeParse(value).success).toBe(true)
    expect(attempts).toBe(1)
    expect(tokens.prompt).toBeGreaterThan(20)
    expect(tokens.completion).toBeGreaterThan(10)
  })

  test.each([
    [
      'a choice of objects',
      z.object({ it: z.union([z.object({ a: Word }), z.object({ b: z.int() })]) }),
    ],
    ['literals', z.object({ it: z.literal('yes'), or: z.literal([1, 2]) })],
    ['a date', z.object({ on: z.iso.date() })],
    ['nested lists', z.object({ rows: z.array(z.array(z.boolean()).max(2)).max(2) })],
    ['text in other alphabets', z.object({ şehir: z.enum(['İstanbul', 'Kraków', '東京']) })],
    ['more text than a grammar can count', z.object({ text: z.string().max(8000) })],
  ])('may be %s', async (_, schema: z.ZodType) => {
    const { value } = await started.model.complete({ ...prompt, schema, seed: 5, max_tokens: 300 })
    expect(schema.safeParse(value).success).toBe(true)
  })

  test('that zod refuses is asked for once more, with what was wrong', async () => {
    const seen: number[] = []
    const never = Word.refine(() => false, 'It has to rhyme.')
    const error = await refusal(
      started.model.complete({
        ...prompt,
        schema: never,
        on_token: (_text, attempt) => void seen.push(attempt),
      }),
    )
    expect(error.reason).toBe('invalid_output')
    expect(error.message).toContain('It has to rhyme.')
    expect(error.is_retryable).toBe(false)
    expect(new Set(seen)).toEqual(new Set([1, 2]))
    expect(error.tokens.completion).toBeGreaterThan(0)
  })

  test('arrives piece by piece', async () => {
    const pieces: string[] = []
    const { value } = await started.model.complete({
      ...prompt,
      schema: Lead,
      on_token: (text) => void pieces.push(text),
    })
    expect(pieces.length).toBeGreaterThan(5)
    expect(JSON.parse(pieces.join(''))).toEqual(value)
  })

  test('that is longer than its tokens is out of budget', async () => {
    const error = await refusal(started.model.complete({ ...prompt, schema: Long, max_tokens: 30 }))
    expect(error.reason).toBe('out_of_budget')
    expect(error.tokens.completion).toBeGreaterThanOrEqual(60)
  })

  test('costs less when its prompt begins as an earlier one did', async () => {
    const system = 'The same project, the same agent. '.repeat(8)
    const before = await started.model.complete({ ...prompt, system, schema: Word })
    const after = await started.model.complete({ ...prompt, system, schema: Word, task: 'Else.' })
    expect(after.tokens.prompt).toBeLessThan(before.tokens.prompt + 10)
  })
})

describe('a prompt', () => {
  test('that is too long says by how much, and fits when that is taken away', async () => {
    const task = 'abcdefghi '.repeat(150)
    const call = { ...prompt, schema: Word, max_tokens: 40 }
    const error = await refusal(started.model.complete({ ...call, task }))
    expect(error.reason).toBe('too_long')
    expect(error.excess_tokens).toBeGreaterThan(0)
    // The tiny model has a token for each character.
    const shorter = task.slice(0, -(error.excess_tokens ?? 0))
    expect((await started.model.complete({ ...call, task: shorter })).attempts).toBe(1)
    const still = await refusal(started.model.complete({ ...call, task: `${shorter}ab` }))
    expect(still.excess_tokens).toBeLessThanOrEqual(2)
  })

  test('is filled with as many parts as it has room for', async () => {
    const parts = Array.from({ length: 30 }, (_, index) => `Evidence ${index}: ${'x'.repeat(60)}`)
    const call = { ...prompt, schema: Word, max_tokens: 40 }
    const fitted = await started.model.fit(call, parts)
    expect(fitted.parts.length).toBeGreaterThan(3)
    expect(fitted.left_out).toBe(30 - fitted.parts.length)
    const task = `${prompt.task}\n${fitted.parts.join('\n')}`
    expect((await started.model.complete({ ...call, task })).attempts).toBe(1)
    const more = `${task}\n${parts.join('\n').slice(0, 300)}`
    expect((await refusal(started.model.complete({ ...call, task: more }))).reason).toBe('too_long')
  })

  test('keeps the beginning of a part that is too long by itself', async () => {
    const { parts, left_out } = await started.model.fit({ ...prompt, schema: Word }, [
      'y'.repeat(5000),
    ])
    expect(parts[0]?.length).toBeGreaterThan(100)
    expect(left_out).toBe(0)
    const task = prompt.task + parts[0]
    expect((await started.model.complete({ ...prompt, schema: Word, task })).attempts).toBe(1)
  })

  test('whose schema has no limits is refused before the model is asked', async () => {
    const call = started.model.complete({ ...prompt, schema: z.object({ text: z.string() }) })
    await expect(call).rejects.toThrow('text: a string needs .max()')
  })
})

describe('the queue', () => {
  test('answers 13 calls made at once', async () => {
    const calls = Array.from({ length: 13 }, (_, seed) =>
      started.model.complete({ ...prompt, schema: Lead, seed, task: `Task ${seed}.` }),
    )
    const answers = await Promise.all(calls)
    expect(answers.map(({ value }) => Lead.safeParse(value).success)).toEqual(Array(13).fill(true))
  })

  test('puts what a user looks at before missions, and missions before the rest', async () => {
    const order: string[] = []
    const running = Array.from({ length: 2 }, (_, seed) =>
      started.model.complete({ ...prompt, schema: Lead, seed }),
    )
    const waiting = (['background', 'mission', 'user', 'background', 'user'] as const).map(
      async (priority) => {
        await started.model.complete({ ...prompt, schema: Word, priority })
        order.push(priority)
      },
    )
    await Promise.all([...running, ...waiting])
    // Two run at once, so the two of a kind may end in either order.
    expect(order.slice(0, 2)).toEqual(['user', 'user'])
    expect(order.indexOf('mission')).toBeLessThan(order.lastIndexOf('background'))
    expect(order).toHaveLength(5)
  })

  test('gives up a cancelled call, running or waiting, and frees its sequence', async () => {
    const cancel = new AbortController()
    let written = 0
    const calls = Array.from({ length: 4 }, () =>
      refusal(
        started.model.complete({
          ...prompt,
          schema: Long,
          signal: cancel.signal,
          on_token: () => {
            if (++written === 20) cancel.abort()
          },
        }),
      ),
    )
    const errors = await Promise.all(calls)
    expect(errors.map(({ reason }) => reason)).toEqual(Array(4).fill('cancelled'))
    // Both sequences have to be free again for these.
    const after = [1, 2, 3].map((seed) => started.model.complete({ ...prompt, schema: Word, seed }))
    expect(await Promise.all(after)).toHaveLength(3)
  })
})

describe('the process', () => {
  test('says what it is', async () => {
    expect(await started.model.state()).toMatchObject({
      kind: 'local',
      name: 'tiny',
      state: 'ready',
      context_size: 1024,
      memory_bytes: expect.any(Number),
    })
  })

  test('that is killed fails the running call as crashed and is there for the next', async () => {
    const { model, close } = await startModel()
    try {
      await model.ready()
      const killed = model.pid()
      let isKilled = false
      const call = refusal(
        model.complete({
          ...prompt,
          schema: Long,
          on_token: () => {
            if (isKilled || !killed) return
            isKilled = true
            process.kill(killed, 'SIGKILL')
          },
        }),
      )
      const error = await call
      expect(error.reason).toBe('crashed')
      expect(error.is_retryable).toBe(true)
      const meanwhile = await model.complete({ ...prompt, schema: Word }).catch((e: unknown) => e)
      if (meanwhile instanceof ModelError) {
        expect(['crashed', 'starting']).toContain(meanwhile.reason)
      }
      await model.ready()
      expect(model.pid()).not.toBe(killed)
      expect((await model.complete({ ...prompt, schema: Word })).attempts).toBe(1)
    } finally {
      await close()
    }
  })

  test('that cannot load its file says why and keeps trying', async () => {
    const { model, close, lines } = await startModel({
      settings: { kind: 'local', file: join(import.meta.dirname, '../no-model.gguf') },
    })
    try {
      await until(async () => (await model.state()).state === 'none')
      const missing = await refusal(model.complete({ ...prompt, schema: Word }))
      expect(missing.reason).toBe('no_model')
      expect(missing.message).toContain('no-model.gguf')
      // Its own process said it, in both languages.
      expect(missing.words.tr).toMatch(/^Model dosyası okunamıyor: .*no-model\.gguf/)

      await model.configure({
        kind: 'local',
        file: join(import.meta.dirname, '../support/broken.gguf'),
      })
      await until(() => lines.filter(({ msg }) => msg === 'model process ended').length >= 2)
      const { state, detail } = await model.state()
      expect(['crashed', 'starting']).toContain(state)
      expect(detail).not.toBeNull()
      expect(['crashed', 'starting']).toContain(
        (await refusal(model.complete({ ...prompt, schema: Word }))).reason,
      )
    } finally {
      await close()
    }
  })

  test('is another one after the settings changed', async () => {
    const { model, file, close } = await startModel()
    try {
      await model.ready()
      const before = model.pid()
      await model.configure({ kind: 'none' })
      expect(await model.state()).toMatchObject({ kind: 'none', state: 'none', name: null })
      expect((await refusal(model.complete({ ...prompt, schema: Word }))).reason).toBe('no_model')
      await model.configure({ kind: 'local', file })
      await model.ready()
      expect(model.pid()).not.toBe(before)
    } finally {
      await close()
    }
  })

  test('ends with its parent, even when that is killed', async () => {
    const parent = spawn(
      process.execPath,
      [join(import.meta.dirname, '../support/model-parent.ts')],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let output = ''
    parent.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await until(() => output.includes('socket '))
    const socket = /socket (.*)/.exec(output)?.[1] ?? ''
    expect(await answers(socket)).toBe(true)
    parent.kill('SIGKILL')
    await until(async () => !(await answers(socket)))
  })
})

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket)
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false))
    probe.once('connect', () => probe.destroy())
  })
}
