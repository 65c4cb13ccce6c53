import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, open } from '../hub/web/browser.ts'
import { expectSpoken, readVocabulary } from '../hub/web/words.ts'
import type { Person } from '../support/service.ts'
import { type ServedConsole, serveConsole } from './console.ts'

const TURKISH = { language: 'tr', theme: 'dark' } as const
const DATA = /^(Watchpost|English|Türkçe|.*@.*)$/
let at: ServedConsole
let owner: Person

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
})
afterAll(() => at?.close())

test('why a link signs nobody in is told in Turkish, too', async () => {
  const { page, wrongs } = await open(at.browser, at.origin, TURKISH)
  const words = await readVocabulary('tr', 'web')
  await page.goto('/')
  const link = await at.linkFor(owner)
  const token_hash = link.split('#')[1] ?? ''
  await page.request.post('/auth/v1/verify', { data: { token_hash, type: 'magiclink' } })
  await page.getByLabel('Oturum bağlantısı').fill(link)
  const signIn = page.getByRole('button', { name: 'Oturum aç' })
  await signIn.click()
  await page.getByText('Bu bağlantı daha önce kullanıldı ya da süresi doldu.').waitFor()
  await expectAccessible(page)
  at.away(true)
  try {
    await signIn.click()
    await page.getByText('Hizmete ulaşılamıyor.').waitFor()
  } finally {
    at.away(false)
  }
  await page.getByLabel('Oturum bağlantısı').fill(at.origin)
  await signIn.click()
  await page.getByText('Bu bağlantı eksik').waitFor()
  await expectSpoken(page, words, DATA)
  expect(wrongs).toEqual([])
})

type Answer = { status: number; body: object }

/** A console whose links are mailed by its issuer, as with Supabase, which answers what the test wants. */
async function openByMail(look: typeof TURKISH, answer: Answer) {
  const opened = await open(at.browser, at.origin, look)
  const { context } = opened
  await context.route('**/console.json', (route) =>
    route.fulfill({
      json: { auth_url: 'auth/v1', auth_key: 'publishable', by: 'mail', tiles: null },
    }),
  )
  const asked: string[] = []
  await context.route('**/auth/v1/otp**', (route) => {
    asked.push(route.request().url())
    const headers = { 'X-Supabase-Api-Version': '2024-01-01' }
    return route.fulfill({ status: answer.status, headers, json: answer.body })
  })
  return { ...opened, asked }
}

test('where links are mailed, one is asked for by its address, and a refusal is told in Turkish', async () => {
  const answer: Answer = {
    status: 429,
    body: { code: 'over_email_send_rate_limit', message: 'Too many.' },
  }
  const { page, asked, wrongs } = await openByMail(TURKISH, answer)
  const words = await readVocabulary('tr', 'web')
  await page.goto('/#/zones')
  await page.getByLabel('E-posta').fill('night@example.com')
  await page.getByRole('button', { name: 'Bağlantıyı gönder' }).click()
  await page.getByText('Az önce bir posta gönderildi.').waitFor()
  await expectSpoken(page, words, DATA)
  await expectAccessible(page)
  answer.status = 200
  answer.body = {}
  await page.getByRole('button', { name: 'Bağlantıyı gönder' }).click()
  await page.getByText('Bağlantı night@example.com adresine gönderildi.').waitFor()
  const back = new URL(asked.at(-1) ?? '').searchParams.get('redirect_to')
  expect(back).toBe(`${at.origin}/`)
  await expectSpoken(page, words, DATA)
  expect(wrongs).toEqual([])
})

test.each([
  [
    '/?error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid#error=access_denied&error_code=otp_expired',
    'süresi doldu',
  ],
  ['/?code=of-another-browser', 'başka bir tarayıcıda istenmişti'],
  // A code that every object has a property for.
  ['/?error=denied&error_code=constructor&error_description=Nobody+knows', '“Nobody knows”'],
])('a mailed link that leads back without a session says why: %s', async (path, said) => {
  const { page, wrongs } = await openByMail(TURKISH, { status: 200, body: {} })
  await page.goto(path)
  await page.getByText(said).waitFor()
  await expectAccessible(page)
  // The next link must not lead back to the same.
  expect(page.url()).toBe(`${at.origin}/`)
  await page.reload()
  await page.getByLabel('E-posta').waitFor()
  expect(await page.getByText(said).count()).toBe(0)
  expect(wrongs).toEqual([])
})
