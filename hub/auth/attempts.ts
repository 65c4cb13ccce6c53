import ipaddr from 'ipaddr.js'
import PQueue from 'p-queue'
import { doublingDelay } from '../../shared/backoff.ts'
import { ApiError } from '../../shared/problem.ts'
import { bilingual } from '../i18n/words.ts'
import { authText } from './auth.text.ts'

const say = bilingual(authText)

/** Who guesses: an address, and whether a place is kept for it (this machine, or somebody signed in). */
type Client = { address: string; is_reserved: boolean }
/** Whose password is tried: who knows one of their own must not so clear what they tried at the admin's. */
export type Door = 'admin' | 'member'
/** Whose password it is; `is_known`: from a browser in which they signed in before. */
type Account = { name: string; is_known: boolean }

const FREE_ATTEMPTS = 3
/** For secrets of 192 bits, which nobody can guess: the limit only stops noise. */
const FREE_NOISE = 30
const WAIT_SECONDS = { first: 2, longest: 60 }
/**
 * Many addresses may guess at one account. The wait is short, and somebody whose browser is known does
 * not share it, so that nobody can lock a member out.
 */
const FREE_OF_ACCOUNT = 10
const ACCOUNT_SECONDS = { first: 1, longest: 8 }
const FORGET_MS = 15 * 60_000
const MAX_ADDRESSES = 10_000
/**
 * Attempts waiting or running: of one address, of all unreserved clients, and of all reserved ones.
 */
const MAX_PER_ADDRESS = 4
const MAX_OF_STRANGERS = 8
const MAX_RESERVED = 4
const BUSY_SECONDS = 5

/**
 * Limits attempts at a secret. They are checked one at a time. Each is counted as wrong before
 * anything is awaited, so a hundred at once gain nothing over a hundred in a row. The wait of an
 * address doubles with each wrong attempt, and strangers never use the capacity reserved for this
 * machine.
 */
export function createAttempts(now: () => number = Date.now) {
  const failed = new Map<string, { count: number; until: number; at: number }>()
  const waiting = new Map<string, number>()
  const held = { strangers: 0, reserved: 0 }
  // A scrypt derivation takes 128 MiB and a thread of libuv's pool, which files and DNS need too.
  const queue = new PQueue({ concurrency: 1 })

  function count(key: string, free: number, wait = WAIT_SECONDS): void {
    const before = failed.get(key)
    const count = before && now() - before.at < FORGET_MS ? before.count + 1 : 1
    const beyond = count - free
    const seconds = doublingDelay(beyond, wait)
    failed.delete(key)
    failed.set(key, { count, until: now() + seconds * 1000, at: now() })
    const [oldest] = failed.keys()
    if (failed.size > MAX_ADDRESSES && oldest !== undefined) failed.delete(oldest)
  }

  /** Throws 429 while the key must wait. */
  function check(key: string): void {
    const wait = Math.ceil(((failed.get(key)?.until ?? 0) - now()) / 1000)
    if (wait > 0) throw tooMany(wait)
  }

  return {
    /**
     * Runs the check and returns its result; throws 429 if this address, or everybody, must wait.
     */
    async attempt(
      { address, is_reserved }: Client,
      isRight: () => Promise<boolean>,
      { door = 'admin', account }: { door?: Door; account?: Account } = {},
    ): Promise<boolean> {
      const place = addressKey(address)
      const key = `${door} ${place}`
      check(key)
      const named = account && !account.is_known ? `account ${account.name}` : undefined
      if (named) check(named)
      const lane = is_reserved ? 'reserved' : 'strangers'
      const most = is_reserved ? MAX_RESERVED : MAX_OF_STRANGERS
      const own = waiting.get(place) ?? 0
      if (held[lane] >= most || own >= MAX_PER_ADDRESS) throw tooMany(BUSY_SECONDS)
      count(key, FREE_ATTEMPTS)
      if (named) count(named, FREE_OF_ACCOUNT, ACCOUNT_SECONDS)
      held[lane] += 1
      waiting.set(place, own + 1)
      try {
        const right = await queue.add(isRight, { priority: is_reserved ? 1 : 0 })
        if (right) failed.delete(key)
        if (right && named) failed.delete(named)
        return right
      } finally {
        held[lane] -= 1
        const left = (waiting.get(place) ?? 1) - 1
        if (left > 0) waiting.set(place, left)
        else waiting.delete(place)
      }
    },
    /** Runs work as expensive as an attempt, for a client who has already shown the secret. */
    alone: <T>(work: () => Promise<T>): Promise<T> => queue.add(work, { priority: 2 }),
    /** Counts a wrong token or link; throws 429 if the address has sent too many. */
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
