import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import {
  type Content,
  type Feed,
  type FeedResult,
  type FeedState,
  isFeedError,
  type PollInput,
} from '../../../functions/feeds/feed.ts'
import { decodeText } from '../../../functions/feeds/fetch.ts'
import { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { oddJson, oddText } from '../odd.ts'

const SAMPLES = new URL('../../../../shared/samples/', import.meta.url)
const NOW = new Date('2026-03-01T12:00:00.000Z')

/** Real recordings, where they lie beside the clone; the fixtures of a test say the same in small. */
export const describeRecordings = existsSync(SAMPLES) ? describe : () => undefined

/** A recorded answer, decoded as a live one is. */
export function recording(path: string): string {
  return decodeText(readFileSync(new URL(path, SAMPLES)))
}

export async function normalise(feed: Feed, text: string, at = NOW): Promise<Content> {
  if (!feed.normalise) throw new Error(`${feed.source} normalises no recordings`)
  return feed.normalise(text, { now: at })
}

export type Reply =
  | { status?: number; headers?: Record<string, string>; json?: unknown; body?: BodyInit }
  | Error

/** A polled feed: the test answers its requests, and what was asked is kept. */
export function upstream(
  feed: Feed,
  answer: (url: URL) => Reply,
  settings: Record<string, string> = {},
) {
  const asked: { url: URL; headers: Headers }[] = []
  let state: FeedState = {}
  const world = {
    answer,
    asked,
    get state() {
      return state
    },
    set state(value: FeedState) {
      state = value
    },
    async poll(
      at: string,
      more: Partial<Pick<PollInput, 'last_success_at'>> = {},
    ): Promise<FeedResult> {
      asked.length = 0
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const url = new URL(String(input))
        asked.push({ url, headers: new Headers(init?.headers) })
        const reply = world.answer(url)
        if (reply instanceof Error) throw reply
        const { status = 200, headers = {}, json, body } = reply
        const text = json === undefined ? (body ?? null) : JSON.stringify(json)
        return new Response(status === 304 ? null : text, { status, headers })
      }
      const result = await feed.poll({ state, now: new Date(at), fetch, settings, ...more })
      // What the database would do with it.
      state = JSON.parse(JSON.stringify(result.state))
      return result
    },
  }
  return world
}

/** Broken copies of an answer, each with what is wrong with it. */
function brokenCopies(text: string): [string, string][] {
  const bytes = new TextEncoder().encode(text)
  const cuts = Array.from({ length: 40 }, (_, n): [string, string] => {
    const at = Math.floor((text.length * n) / 40)
    return [`cut at ${at}`, text.slice(0, at)]
  })
  const number = /(?<=[:[,>"]\s*)-?\d+(\.\d+)?(?=\s*[,\]}<"])/g
  return [
    ...cuts,
    ['a web page', '<!doctype html><html><body>Maintenance</body></html>'],
    ['a byte order mark', `\ufeff${text}`],
    ['an encoded byte order mark', `\u00ef\u00bb\u00bf${text}`],
    ['latin1', new TextDecoder('latin1').decode(bytes)],
    ['UTF-16 for UTF-8', new TextDecoder('utf-16le').decode(bytes)],
    ['NaN', text.replace(number, 'NaN')],
    ['Infinity', text.replace(number, 'Infinity')],
    ['huge numbers', text.replace(number, '1e308')],
    ['numbers beyond all', text.replace(number, '1e999')],
    ['words for numbers', text.replace(number, '"many"')],
    ['nulls', text.replace(/(?<=:\s*)("[^"]*"|-?\d[\d.]*)(?=\s*[,}])/g, 'null')],
    ['empty texts', text.replace(/(?<=:\s*)"[^"]*"(?=\s*[,}])/g, '""')],
    ['an entity bomb', `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>${text}`],
    ['deep nesting', '['.repeat(100_000)],
    ['deep elements', '<a>'.repeat(100_000)],
    ['control characters', text.replace(/[aeiou]/g, '\u0000')],
  ]
}

/** Normalises broken copies of an answer: nothing but a FeedError, events and reasons may come of it. */
export async function expectHarmless(feed: Feed, text: string): Promise<void> {
  for (const [what, copy] of brokenCopies(text)) await expectSound(feed, copy, what)
}

/**
 * Puts odd values in the place of each value of an answer, and compares what becomes of each with
 * golden/odd/<name>.txt: which fields of the events change to what, what is rejected and why.
 */
export async function expectAgreed(feed: Feed, text: string, name = feed.source): Promise<void> {
  const usual = await becomes(feed, text)
  const lines: string[] = []
  for (const [place, copies] of /^[{[]/.test(text) ? oddJson(text) : oddText(text)) {
    const outcomes = new Map<string, string[]>()
    for (const [value, copy] of copies) {
      const outcome = difference(usual, await becomes(feed, copy))
      outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), value])
    }
    lines.push(place)
    for (const [outcome, values] of outcomes) lines.push(`  ${values.join(' ')}: ${outcome}`)
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(
    join(import.meta.dirname, '../../functions/feeds/golden/odd', `${name}.txt`),
  )
}

/** The content of an answer, or the error as it is told. */
async function becomes(feed: Feed, text: string): Promise<Content | string> {
  try {
    return await normalise(feed, text)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function difference(usual: Content | string, content: Content | string): string {
  if (typeof content === 'string') return content.slice(0, 200)
  const before = typeof usual === 'string' ? [] : usual.events
  const told = content.rejected.map(({ item, reason }) => `rejected ${item}, ${reason}`)
  if (content.events.length !== before.length) told.unshift(`${content.events.length} events`)
  for (const [index, event] of content.events.entries()) {
    const was: Partial<NormalisedEvent> =
      before.find(({ id }) => id === event.id) ?? before[index] ?? {}
    for (const [key, value] of Object.entries(event)) {
      const now = JSON.stringify(value) ?? 'none'
      if (now !== JSON.stringify(was[key as keyof NormalisedEvent])) {
        told.push(`${key} ${now.length > 120 ? `${now.slice(0, 120)}…` : now}`)
      }
    }
  }
  return told.length > 0 ? told.join('; ').slice(0, 400) : 'the same'
}

/** Normalises copies of a JSON answer in which one value is replaced by another: agreed ones, and any. */
export async function expectRobust(feed: Feed, json: unknown, numRuns = 100): Promise<void> {
  await expectAgreed(feed, JSON.stringify(json))
  const size = countNodes(json)
  const odd = fc.oneof(
    fc.constantFrom<unknown>(null, '', [], {}, -0, 1e308, 'NaN', '1', true, '\u0000', [[]]),
    fc.double(),
    fc.string(),
    fc.jsonValue(),
  )
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: size - 1 }), odd, async (at, value) => {
      const text = JSON.stringify(replaceNode(json, at, value))
      await expectSound(feed, text, text)
    }),
    { numRuns },
  )
}

async function expectSound(feed: Feed, text: string, what: string): Promise<void> {
  let content: Content
  try {
    content = await normalise(feed, text)
  } catch (error) {
    if (!isFeedError(error)) throw new Error(`${what}: ${String(error)}`, { cause: error })
    return
  }
  for (const event of content.events) NormalisedEvent.parse(event)
  for (const { item, reason } of content.rejected) {
    expect(item, what).not.toBe('')
    expect(reason, what).not.toBe('')
    // What a bug throws is no reason.
    expect(reason, what).not.toMatch(
      /of undefined|is undefined|is not a function|Cannot read|call stack/,
    )
  }
}

function countNodes(json: unknown): number {
  if (json === null || typeof json !== 'object') return 1
  return Object.values(json).reduce<number>((sum, value) => sum + countNodes(value), 1)
}

/** A copy of a value in which the n-th node is replaced. */
function replaceNode(json: unknown, n: number, by: unknown): unknown {
  let left = n
  const copy = (node: unknown): unknown => {
    if (left-- === 0) return by
    if (Array.isArray(node)) return node.map(copy)
    if (node === null || typeof node !== 'object') return node
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, copy(value)]))
  }
  return copy(json)
}
