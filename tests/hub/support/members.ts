import { Hono } from 'hono'
import { ADMIN, setPassword } from '../../../hub/auth/auth.ts'
import { newKey, type Scope, secretHash } from '../../../hub/auth/identity.ts'
import { startSession } from '../../../hub/auth/sessions.ts'
import type { Role } from '../../../hub/db/actor.ts'
import type { Env } from '../../../hub/http/http.ts'
import { readSetting } from '../../../hub/ops/settings.ts'
import type { TestHub } from './hub.ts'

/** Makes a member who has joined, and a cookie of a session; without the work of scrypt. */
export async function joinAs(hub: TestHub, role: Role, name = `The ${role}`) {
  if (!(await hub.call('GET', 'health').then((answer) => answer.json())).set_up) {
    await setPassword(hub.paths, 'correct horse battery')
  }
  const [member] = await hub.query<{ id: string; session_epoch: number }>(
    `insert into hub.members (email, name, role, password_hash, joined_at)
     values ($1, $2, $3, 'made without one', now()) returning id, session_epoch`,
    [`${name.replaceAll(' ', '.')}@hub.example`.toLowerCase(), name, role],
  )
  if (!member) throw new Error('No member was made.')
  return { id: member.id, cookie: await cookieOf(hub, member) }
}

/** What a session of the single admin begins with. */
export async function ofAdmin({ paths }: TestHub): Promise<{ secret: string }> {
  return { secret: (await readSetting(paths, ADMIN))?.session_secret ?? '' }
}

/** The cookie of a new session; of the single admin without a member. */
export async function cookieOf(hub: TestHub, member?: { id: string; session_epoch: number }) {
  const door = new Hono<Env>()
  door.post('/', async (c) => {
    c.set('deps', hub.deps)
    await startSession(c, member ?? (await ofAdmin(hub)))
    return c.text('')
  })
  const answer = await door.request('/', { method: 'POST' })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** Makes an API key with a scope. */
export async function keyWith(hub: TestHub, scope: Scope, name: string = scope): Promise<string> {
  const key = newKey()
  await hub.query(
    'insert into hub.api_keys (name, scope, key_hash, hint) values ($1, $2, $3, $4)',
    [name, scope, secretHash(key), key.slice(-4)],
  )
  return key
}
