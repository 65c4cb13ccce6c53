import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'

/*
 * The messages between the hub and its reader: JSON, one message per line. The reader has no
 * network access; it requests from the hub everything that its browser loads.
 */

/** What a page may load: itself, and what it needs to show its text. */
const KINDS = ['document', 'script', 'stylesheet', 'fetch'] as const
export type Kind = (typeof KINDS)[number]

const Id = z.int().nonnegative()
const Url = z.string().max(4096)

export const ToReader = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), url: Url }),
  z.object({ type: z.literal('check') }),
  z.object({
    type: z.literal('got'),
    id: Id,
    status: z.int(),
    content_type: z.string(),
    allow_origin: z.string().nullable(),
    body: z.base64(),
  }),
  z.object({ type: z.literal('moved'), id: Id, url: Url }),
  z.object({ type: z.literal('refused'), id: Id }),
])
export type ToReader = z.infer<typeof ToReader>

export const MAX_TEXT_LENGTH = 20_000
export const MAX_TITLE_LENGTH = 200
export const MAX_LINKS = 300
export const MAX_LINK_LENGTH = 500
export const MAX_LINK_TEXT_LENGTH = 80

/** What is visible on a page. */
export const PageText = z.object({
  url: Url,
  title: z.string().max(MAX_TITLE_LENGTH),
  text: z.string().max(MAX_TEXT_LENGTH),
  links: z
    .array(
      z.object({
        url: z.string().max(MAX_LINK_LENGTH),
        text: z.string().max(MAX_LINK_TEXT_LENGTH),
      }),
    )
    .max(MAX_LINKS),
})
export type PageText = z.infer<typeof PageText>

/** Why the browser did not start or the page did not open. */
export const FAILURES = ['no_chromium', 'root', 'sandbox', 'start', 'page'] as const

export const FromReader = z.discriminatedUnion('type', [
  z.object({ type: z.literal('get'), id: Id, url: Url, kind: z.enum(KINDS) }),
  z.object({ type: z.literal('page'), page: PageText }),
  z.object({ type: z.literal('checked'), version: z.string().max(100) }),
  z.object({
    type: z.literal('failed'),
    why: z.enum(FAILURES),
    detail: z.string().max(300).default(''),
  }),
])
export type FromReader = z.infer<typeof FromReader>

const NEWLINE = 0x0a

/**
 * readMessages yields messages line by line; a line longer than `max_bytes` ends it with an error.
 */
export async function* readMessages<S extends z.ZodType>(
  from: Readable,
  schema: S,
  max_bytes: number,
): AsyncGenerator<z.output<S>> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of from) {
    let rest: Buffer = chunk
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)])
      if (line.length > max_bytes) throw new Error(`A message has more than ${max_bytes} bytes.`)
      parts = []
      size = 0
      rest = rest.subarray(end + 1)
      yield schema.parse(JSON.parse(line.toString('utf8')))
    }
    parts.push(rest)
    size += rest.length
    if (size > max_bytes) throw new Error(`A message has more than ${max_bytes} bytes.`)
  }
}

/** sendMessage writes one message. */
export function sendMessage(to: Writable, message: ToReader | FromReader): void {
  if (to.writable) to.write(`${JSON.stringify(message)}\n`)
}
