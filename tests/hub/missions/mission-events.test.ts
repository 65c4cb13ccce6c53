import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, DOCUMENT, makeProject, until } from '../support/mission-help.ts'
import { type StubModel, startStubModel, useStub } from '../support/stub-model.ts'

const LIMIT_MS = 120_000
let hub: TestHub
let stub: StubModel
beforeAll(async () => {
  stub = await startStubModel()
  hub = await startHub({ start: true })
  await makeProject(hub)
  await useStub(hub, stub)
}, LIMIT_MS)
afterAll(async () => {
  await hub.close()
  await stub.close()
})

type Event = { id?: string; event: string; data: Record<string, unknown> }

/** The events of a mission until its stream ends; `onPart` is called with each part of it. */
async function eventsOf(id: string, after?: string, onPart = () => {}): Promise<Event[]> {
  const answer = await hub.call(
    'GET',
    `missions/${id}/events`,
    undefined,
    after ? { 'last-event-id': after } : {},
  )
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  let text = ''
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    onPart()
  }
  return text.split('\n\n').flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
    const [event, data, number] = [field('event'), field('data'), field('id')]
    return event && data
      ? [{ event, data: JSON.parse(data), ...(number ? { id: number } : {}) }]
      : []
  })
}

test(
  'a mission that works streams its states, steps and tokens, and goes on behind Last-Event-ID',
  async () => {
    stub.script(DOCUMENT)
    stub.hold(true)
    const id = await compose(hub, 'docs', 'a guide')
    await until(async () => stub.asked.length > 0)
    let rings = 0
    hub.deps.missions.events.on('event', (of) => {
      if (of === id) rings += 1
    })
    const listeners = () =>
      (['event', 'token'] as const).map((name) => hub.deps.missions.events.listenerCount(name))
    const before = listeners()
    // The model answers to whom is listening already.
    const events = await eventsOf(id, undefined, () => stub.hold(false))
    await until(async () => listeners().join() === before.join())
    const states = events.filter(({ event }) => event === 'state').map(({ data }) => data.status)
    expect(states).toEqual(['queued', 'processing', 'done'])
    const steps = events.filter(({ event }) => event === 'step').map(({ data }) => data.name)
    expect(steps).toEqual(['outline', 'section 1', 'section 2', 'document'])
    // Streams are told of each step and of the end; they need not wait until they look.
    expect(rings).toBe(5)
    // What the model wrote, each part once.
    const told = events.filter(({ event }) => event === 'tokens').map(({ data }) => data.text)
    expect(told.join('')).toBe(
      stub.asked
        .slice(-3)
        .map((one) => JSON.stringify(DOCUMENT(one)))
        .join(''),
    )
    const numbered = events.filter((event) => event.id !== undefined)
    const rest = await eventsOf(id, numbered[2]?.id)
    expect(rest).toEqual(numbered.slice(3))
    expect(await eventsOf(id, numbered.at(-1)?.id)).toEqual([])
    expect(
      (await hub.call('GET', `missions/${id}/events`, undefined, { 'last-event-id': 'x' })).status,
    ).toBe(400)
  },
  LIMIT_MS,
)
