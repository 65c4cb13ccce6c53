import { createApp } from '../../../functions/app.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import type { Tiles } from '../../../functions/console-settings.ts'
import type { Deps } from '../../../functions/context.ts'
import { createPool } from '../../../functions/db.ts'
import { consoleRoutes } from '../../../functions/node/console.ts'
import { createIssuer, ISSUER_PATH } from '../../../functions/sign-in/issuer.ts'
import { SIGN_IN_PATH, signInPage } from '../../../functions/sign-in/sign-in-page.ts'
import { ADDRESS_HEADER, ORIGIN, PUBLIC_URL, type Service } from '../service.ts'

/** The API as Node serves it on a plain Postgres, together with the issuer. */
export type IssuingApp = {
  fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** Every log line. */
  lines: Record<string, unknown>[]
  close: () => Promise<void>
}

/** createIssuingApp serves a test's database a second time, with Watchpost itself as the issuer. */
export async function createIssuingApp(
  { database, seal }: Service,
  options: Partial<Pick<Deps, 'limits' | 'public_url' | 'send' | 'origins' | 'address_limit'>> & {
    tiles?: Tiles | undefined
  } = {},
): Promise<IssuingApp> {
  const db = createPool({ url: database.apiUrl, max: 4 })
  const lines: IssuingApp['lines'] = []
  const { public_url = PUBLIC_URL, origins = [ORIGIN], tiles, ...rest } = options
  const given = { db, seal, public_url, origins }
  const { verify_session, routes } = await createIssuer(given)
  const app = createApp({
    ...given,
    verify_session,
    send: () => Promise.reject(new Error('nothing is sent here')),
    allow: parseAllowList(undefined),
    limits: { pro: 100_000, enterprise: 100_000, address: 100_000 },
    address: (c) => c.req.header(ADDRESS_HEADER) ?? '192.0.2.1',
    address_limit: () => 0,
    has_console: true,
    asset: async () => undefined,
    log: (line) => void lines.push(line),
    tile_origin: tiles && new URL(tiles.url).origin,
    ...rest,
  })
  const pages = consoleRoutes({
    ...{ auth_url: `.${ISSUER_PATH}`, auth_key: null, by: 'link' },
    tiles: tiles ?? null,
  })
  app.route(ISSUER_PATH, routes).route(SIGN_IN_PATH, signInPage).route('/', pages)
  return { fetch: async (input, init) => app.request(input, init), lines, close: () => db.end() }
}
