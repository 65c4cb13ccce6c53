import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { readConfig } from '../../functions/config.ts'
import type { Log } from '../../functions/log.ts'
import { startService } from '../../functions/service.ts'
import { ISSUER_PATH } from '../../functions/sign-in/issuer.ts'
import {
  addMember,
  asOperator,
  createAccount,
  createLink,
  createOrganisation,
} from '../postgres/accounts.ts'
import { prepareLogins } from '../postgres/logins.ts'
import { migrate } from '../postgres/migrate.ts'
import { findPort } from '../postgres/port.ts'
import { writeNewSecrets } from '../postgres/secrets.ts'
import { startThrowawayPostgres } from '../postgres/throwaway.ts'
import { prepareReplay } from '../start/replay.ts'

const HOST = '127.0.0.1'
const UNLIMITED = '1000000'
const ALERT_WITHIN_MS = 60_000

/** A running service that has at least one object of each kind. */
export type Target = {
  url: string
  /** A key of a Pro account. */
  key: string
  /** A session of another account, because managing an account may revoke its keys. */
  session: string
  /** The ids of existing objects, by their names in paths. */
  ids: Record<'teams' | 'members' | 'clubs' | 'alerts', string[]>
  stop: () => Promise<void>
}

/**
 * startTarget starts the Node service on a throwaway database with the replay; no request leaves
 * this machine.
 */
export async function startTarget(folder: string): Promise<Target> {
  const closing: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close()
  }
  try {
    const server = await startThrowawayPostgres()
    closing.push(server.stop)
    await migrate(server.adminUrl)
    const secrets = await writeNewSecrets(folder)
    const logins = await prepareLogins(server.adminUrl, secrets)
    const port = await findPort({ host: HOST, port: 0 })
    const url = `http://${HOST}:${port}`
    const config = readConfig(
      {
        HOST,
        PORT: String(port),
        PUBLIC_URL: url,
        API_DATABASE_URL: logins.api,
        JOBS_DATABASE_URL: logins.jobs,
        SEAL_KEYS: secrets.seal_keys,
        RATE_LIMIT_PRO: UNLIMITED,
        RATE_LIMIT_ADDRESS: UNLIMITED,
      },
      'serve',
    )
    config.feeds = await prepareReplay(logins.jobs, () => undefined)
    const service = await startService(config, sayErrors, async () => ({
      ...{ ok: true, status: 200, headers: new Headers() },
      ...{ body: 'ok', duration_ms: 1 },
    }))
    closing.push(service.stop)
    const people = await populate(server.adminUrl)
    const session = await signIn(url, people.token_hash)
    return {
      url,
      session,
      ...people,
      ids: { ...people.ids, alerts: await raise(url, people.key) },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const sayErrors: Log = (line) => {
  if (line.error !== undefined) console.error(JSON.stringify(line))
}

/** Creates two accounts, each with an organisation; one is also a member of the other's. */
async function populate(adminUrl: string) {
  const account = (email: string) =>
    asOperator(adminUrl, (client) =>
      createAccount(client, { email, plan: 'pro', scopes: ['read', 'write'], key_name: 'Proof' }),
    )
  const asked = await account('key@watchpost.localhost')
  const managing = await account('session@watchpost.localhost')
  return asOperator(adminUrl, async (client) => {
    const team = await createOrganisation(client, { name: 'Team', owner: asked })
    const club = await createOrganisation(client, { name: 'Club', owner: managing })
    await addMember(client, { org_id: team.org_id, email: managing.email, role: 'member' })
    const { token_hash } = await createLink(client, { email: managing.email })
    const ids = {
      teams: [team.org_id],
      members: [asked.user_id, managing.user_id],
      clubs: [club.org_id, team.org_id],
    }
    return { key: asked.api_key, token_hash, ids }
  })
}

async function signIn(url: string, token_hash: string): Promise<string> {
  const answer = await fetch(`${url}${ISSUER_PATH}/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ type: 'magiclink', token_hash }),
  })
  return z.object({ access_token: z.string() }).parse(await answer.json()).access_token
}

/**
 * Creates a zone in the busiest region of the recorded week, with a channel, and waits for the
 * first alerts.
 */
async function raise(url: string, key: string): Promise<string[]> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const create = async (path: string, body: object) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    })
    if (answer.status !== 201) throw new Error(`${path} answered ${await answer.text()}`)
  }
  await create('/channels', { kind: 'webhook', target: 'https://hooks.example.com/in' })
  await create('/zones', { label: 'All', lat: 37, lon: -119, radius_km: 5000, min_severity: 0 })
  const Alerts = z.object({ alerts: z.array(z.looseObject({ id: z.uuid() })) })
  const late = Date.now() + ALERT_WITHIN_MS
  while (Date.now() < late) {
    const answer = await fetch(`${url}/api/v1/alerts`, { headers })
    const { alerts } = Alerts.parse(await answer.json())
    if (alerts.length > 0) return alerts.map(({ id }) => id)
    await pause(200)
  }
  throw new Error(`the replay raised no alert within ${ALERT_WITHIN_MS / 1000} s`)
}
