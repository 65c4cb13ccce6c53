/** Addresses and the links in their mails, for the tests of the pages behind these. */
import { afterAll, beforeAll, vi } from 'vitest'
import { type LinkPurpose, type LinkSubject, signLink } from '../../../../functions/links.ts'
import { createService, type Person, type Service } from '../../../support/service.ts'

export let service: Service
export let owner: Person

/** Has the tests of this file run on a service of their own. */
export function useService(): void {
  beforeAll(async () => {
    service = await createService()
    owner = await service.person()
  })
  afterAll(() => service?.close())
}

export const query = async <Row>(statement: string, values: unknown[]): Promise<Row> => {
  const [row] = await service.database.query<Row & object>(statement, values)
  if (!row) throw new Error('no row')
  return row
}

/** The paragraphs of a page, without what is marked up in them. */
export const paragraphsOf = (text: string) =>
  [...text.matchAll(/<p>(.*?)<\/p>/gs)].map(([, inside = '']) => inside.replace(/<[^>]*>/g, ''))

export const titleOf = (text: string) => /<h1>(.*)<\/h1>/.exec(text)?.[1]

export type Stored = {
  id: string
  confirmation_id: string
  confirmed_at: string | null
  status: string
  enabled: boolean
  disabled_reason: string | null
}
export const stored = (id: string) =>
  query<Stored>('select * from watchpost.channels where id = $1', [id])

export const address = ({ language = 'en', is_confirmed = false } = {}) =>
  query<Stored>(
    `insert into watchpost.channels (owner_id, kind, label, target_sealed, target_masked, language, confirmed_at)
    values ($1, 'email', '<b>Ops</b>', 'sealed', '…@example.com', $2, case when $3 then now() end) returning *`,
    [owner.user_id, language, is_confirmed],
  )

const HOUR = 3_600_000

/** The path of a link. */
export async function link<P extends LinkPurpose>(
  purpose: P,
  subject: LinkSubject<P>,
  { seal = service.seal, ms = HOUR } = {},
): Promise<string> {
  const expires_at = new Date(Date.now() + ms)
  return signLink({ seal, public_url: '' }, { purpose, subject, expires_at })
}

export const about = ({ id, confirmation_id }: Stored) => ({ channel_id: id, confirmation_id })

/** Resolves when a statement waits for what another transaction has changed. */
export const aWait = () =>
  vi.waitUntil(
    async () =>
      (
        await service.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).length > 0,
    { timeout: 10_000, interval: 5 },
  )
