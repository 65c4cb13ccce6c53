import ipaddr from 'ipaddr.js'
import PQueue from 'p-queue'
import { doublingDelay } from '../../shared/backoff.ts'
import { ApiError } from '../../shared/problem.ts'
import { bilingual } from '../i18n/words.ts'
import { authText } from './auth.text.ts'

const say = bilingual(authText)

/** Who guesses: an address, and whether a place is kept for it (this machine, or somebody signed in). */
type Guesser = { address: string; is_kept: boolean }

const FREE_ATTEMPTS = 3
/** Of a secret nobody can guess (192 bits): only noise is stopped, and the right one always works. */
const FREE_NOISE = 30
const WAIT_SECONDS = { first: 2, longest: 60 }
const FORGET_MS = 15 * 60_000
const MOST_ADDRESSES = 10_000
/** Guesses waiting or at work: of one address, of all strangers, and on the places kept. */
const MOST_OF_ONE = 4
const MOST_OF_STRANGERS = 8
const MOST_KEPT = 4
const BUSY_SECONDS = 5

/**
 * Lets guesses at a secret through one at a time. Each counts as wrong until it was right, and is
 * counted before anything is awaited: a hundred at once are no more than a hundred in a row. An
 * address waits twice as long each time; strangers never take the places kept for this machine.
 */
export function createAttempts(now: () => number = Date.now) {
  const failed = new Map<string, { count: number; until: number; at: number }>()
  const waiting = new Map<string, number>()
  const held = { strangers: 0, kept: 0 }
  // A derivation takes 128 MiB and a thread of the pool that file and name look-ups share.
  const queue = new PQueue({ concurrency: 1 })

  function count(key: string, free: number): void {
    const before = failed.get(key)
    const count = before && now() - before.at < FORGET_MS ? before.count + 1 : 1
    const beyond = count - free
    const seconds = doublingDelay(beyond, WAIT_SECONDS)
    failed.delete(key)
    failed.set(key, { count, until: now() + seconds * 1000, at: now() })
    const [oldest] = failed.keys()
    if (failed.size > MOST_ADDRESSES && oldest !== undefined) failed.delete(oldest)
  }

  /** Throws 429 while a key has to wait. */
  function check(key: string): void {
    const wait = Math.ceil(((failed.get(key)?.until ?? 0) - now()) / 1000)
    if (wait > 0) throw tooMany(wait)
  }

  return {
    /** Judges one guess, or throws 429 when its address, or everybody, has to wait. */
    async guess({ address, is_kept }: Guesser, isRight: () => Promise<boolean>): Promise<boolean> {
      const key = addressKey(address)
      check(key)
      const lane = is_kept ? 'kept' : 'strangers'
      const most = is_kept ? MOST_KEPT : MOST_OF_STRANGERS
      const own = waiting.get(key) ?? 0
      if (held[lane] >= most || own >= MOST_OF_ONE) throw tooMany(BUSY_SECONDS)
      count(key, FREE_ATTEMPTS)
      held[lane] += 1
      waiting.set(key, own + 1)
      try {
        const right = await queue.add(isRight, { priority: is_kept ? 1 : 0 })
        if (right) failed.delete(key)
        return right
      } finally {
        held[lane] -= 1
        const left = (waiting.get(key) ?? 1) - 1
        if (left > 0) waiting.set(key, left)
        else waiting.delete(key)
      }
    },
    /** Does what takes as much as a guess, for somebody who has shown the secret. */
    alone: <T>(work: () => Promise<T>): Promise<T> => queue.add(work, { priority: 2 }),
    /** Notes a wrong token or link; throws 429 for an address that goes on with it. */
    wrong(door: 'token' | 'link', address: string): void {
      const key = `${door} ${addressKey(address)}`
      check(key)
      count(key, FREE_NOISE)
    },
  }
}

function tooMany(seconds: number): ApiError {
  return new ApiError('rate_limited', say.wait(seconds), {
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Whoever has an IPv6 network has 2^64 addresses: they count as one. */
function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const known = ipaddr.process(address)
  if (known instanceof ipaddr.IPv4) return known.toString()
  return `${known.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
