import { serve } from '@hono/node-server'
import type { Browser } from 'playwright-core'
import type { Tiles } from '../../functions/console-settings.ts'
import type { AnyFeed } from '../../functions/feeds/feed.ts'
import { buildWeb } from '../../scripts/build/build-web.ts'
import { asOperator, createLink } from '../../scripts/postgres/accounts.ts'
import {
  type Look,
  type Opened,
  open,
  settled,
  sharedBrowser,
  startBrowser,
} from '../hub/web/browser.ts'
import { createTestJobs, type TestJobs } from '../support/jobs.ts'
import { createIssuingApp } from '../support/servers/issuing-app.ts'
import { createService, type Person, type Service } from '../support/service.ts'

/** A service with its issuer, jobs and console, which listens for browsers. */
export type ServedConsole = {
  service: Service
  jobs: TestJobs
  browser: Browser
  origin: string
  /** Stops answering, as a service that is restarted, until called with false. */
  away: (isAway: boolean) => void
  /** A sign-in link as an operator gives it out. */
  linkFor: (person: Pick<Person, 'email'>) => Promise<string>
  /** Opens a page of the console, signed in, and waits until everything has come. */
  visit: (person: Person, path: string, look?: Look) => Promise<Opened>
  close: () => Promise<void>
}

/** makeZone makes a zone of 80 km around a place, and returns its id. */
export async function makeZone(
  { service }: ServedConsole,
  person: Person,
  zone: {
    label: string
    lat: number
    lon: number
    org_id?: string | undefined
    external_id?: string
  },
): Promise<string> {
  const body = { radius_km: 80, ...zone }
  const answer = await service.request('POST', '/api/v1/zones', { key: person.key, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return (answer.body as { zone: { id: string } }).zone.id // safe: 201
}

/** makeChannel makes a webhook, and returns its id. */
export async function makeChannel(
  { service }: ServedConsole,
  person: Person,
  channel: { label: string },
): Promise<string> {
  const body = { kind: 'webhook', target: 'https://hooks.example.com/watchpost', ...channel }
  const answer = await service.request('POST', '/api/v1/channels', { key: person.key, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return (answer.body as { channel: { id: string } }).channel.id // safe: 201
}

/** serveConsole starts all that the console needs on a database of its own. */
export async function serveConsole({
  hasWebGL = false,
  feeds = [],
  ...options
}: {
  hasWebGL?: boolean
  feeds?: AnyFeed[]
  tiles?: Tiles
  origins?: string[]
} = {}): Promise<ServedConsole> {
  await buildWeb('console')
  const service = await createService()
  const jobs = await createTestJobs(service, { feeds })
  let isAway = false
  let handle: (request: Request) => Promise<Response>
  const server = serve({
    fetch: async (request) => (isAway ? new Response('', { status: 502 }) : handle(request)),
    hostname: '127.0.0.1',
    port: 0,
  })
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const address = server.address()
  const origin = `http://localhost:${typeof address === 'object' && address ? address.port : 0}`
  const app = await createIssuingApp(service, {
    ...options,
    public_url: origin,
    send: async (request) => {
      service.receiver.requests.push(request)
      return service.receiver.answer(request)
    },
  })
  handle = (request) => app.fetch(request)
  const browser = hasWebGL ? await startBrowser({ hasWebGL }) : await sharedBrowser()
  const linkFor: ServedConsole['linkFor'] = async ({ email }) => {
    const link = await asOperator(service.database.adminUrl, (sql) => createLink(sql, { email }))
    return `${origin}/sign-in#${link.token_hash}`
  }
  return {
    service,
    jobs,
    browser,
    origin,
    away: (is) => {
      isAway = is
    },
    linkFor,
    visit: async (person, path, look) => {
      // Each pixel of a map that is drawn without a graphics card costs processor time.
      const opened = await open(browser, origin, { isCoarse: hasWebGL, ...look })
      const link = new URL(await linkFor(person))
      const answer = await opened.context.request.post('/auth/v1/verify', {
        data: { token_hash: link.hash.slice(1), type: 'magiclink' },
      })
      const session = await answer.text()
      await opened.context.addInitScript((text) => {
        // Not again on a reload: the session may have been renewed or ended since.
        if (localStorage.getItem('visited')) return
        localStorage.setItem('visited', 'yes')
        localStorage.setItem('watchpost.session', text)
      }, session)
      await opened.page.goto(path)
      await settled(opened.page)
      return opened
    },
    close: async () => {
      if (hasWebGL) await browser.close()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await app.close()
      await jobs.close()
      await service.close()
    },
  }
}
