/** What the kinds have in common when they check what somebody gives for a channel. */
import type { z } from 'zod'
import type { ChannelKind, Issue } from './channel.ts'

export type Given = Parameters<ChannelKind['check']>[0]

export const targetIssue = (code: string, message: string): Issue => ({
  path: 'target',
  code,
  message,
})

/** What is wrong with a config, by its schema. */
export function configIssues(schema: z.ZodType, config: unknown): Issue[] {
  const read = schema.safeParse(config ?? {})
  if (read.success) return []
  return read.error.issues.map((issue) => ({
    path: ['config', ...issue.path].join('.'),
    code: issue.code,
    message: messageOf(issue),
  }))
}

/** Of a name in a record zod itself says only that it is invalid; the reason is within. */
function messageOf(issue: z.core.$ZodIssue): string {
  const [inner] = issue.code === 'invalid_key' ? issue.issues : []
  return inner?.message ?? issue.message
}

/** A target as an https URL without credentials or port; null for everything else. */
export function httpsUrl(target: string): URL | null {
  if (target !== target.trim() || !URL.canParse(target)) return null
  const url = new URL(target)
  const isPlain = url.protocol === 'https:' && url.username === '' && url.password === ''
  return isPlain && url.port === '' ? url : null
}

/** Masks a key: what is left tells two of them apart. */
export const maskKey = (key: string): string => (key.length < 20 ? '…' : `…${key.slice(-4)}`)
