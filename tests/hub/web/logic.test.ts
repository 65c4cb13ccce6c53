import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { hubDocument, stampOf, TYPES } from '../../../scripts/build/hub-client.ts'
import { isDark } from '../../../shared/colour.ts'
import { readVocabulary } from './words.ts'

test('the types of the client are those of the routes (else: npm run client:hub)', () => {
  const [first] = readFileSync(TYPES, 'utf8').split('\n')
  expect(first).toBe(stampOf(hubDocument()))
})

/** Words that are the same in both languages. */
const SAME =
  /^(Model|Logo|rsync|Disk|Node|Hub|Free|Starter|Pro|Agency|Enterprise|STARTTLS \(587\)|TLS \(465\)|E-posta|CSV|SMTP|listmonk|DKIM|SPF|DMARC|HTML|GGUF|IMAP|TLS|STARTTLS|HTTP|API|OKR|PDF|Plan|SHA-256|CONTEXT\.md)$/

test('nothing stands untranslated in the dictionaries', async () => {
  const english = await readVocabulary('en')
  const turkish = await readVocabulary('tr')
  const same = [...turkish.sentences].filter((words) => english.sentences.has(words))
  expect(same.filter((words) => /\p{L}{2}/u.test(words) && !SAME.test(words))).toEqual([])
})

describe('what a page works out by itself', () => {
  beforeAll(() => {
    vi.stubGlobal('localStorage', { getItem: () => null })
    vi.stubGlobal('document', { documentElement: {} })
    return () => vi.unstubAllGlobals()
  })

  test('a line that was broken for its width is joined, a line that the writer ended is not', async () => {
    const { plainMail, withoutSoftBreaks } = await import(
      '../../../hub/web/pages/drafts/soft-breaks.ts'
    )
    const wide = 'You are receiving this mail because Demir Lojistik believes it is relevant to'
    expect(withoutSoftBreaks(`Hello,\n\n${wide}\nyour work.\n\nKind regards,\nAyşe\n`)).toBe(
      `Hello,\n\n${wide} your work.\n\nKind regards,\nAyşe\n`,
    )
    expect(plainMail(`${wide}\nyour work.\n\nUnsubscribe <{unsubscribe_url}>\n`, 'own')).toBe(
      `${wide} your work.\n\nUnsubscribe <own>\n`,
    )
  })

  test('opens and clicks are shown only where some were counted; the rest always', async () => {
    const { outcomesOf, replyRate } = await import('../../../hub/web/pages/numbers/outcomes.ts')
    const mail = { sent: 8, opened: 0, clicked: 0, replied: 0, bounced: 0, unsubscribed: 0 }
    expect(outcomesOf(mail)).toEqual(['sent', 'replied', 'bounced', 'unsubscribed'])
    expect(outcomesOf({ ...mail, opened: 1 })).toContain('opened')
    expect(outcomesOf({ ...mail, opened: 1 })).not.toContain('clicked')
    expect(replyRate({ sent: 8, replied: 1 })).toBe(0.125)
    expect(replyRate({ sent: 8, replied: 0 })).toBe(0)
    expect(replyRate({ sent: 0, replied: 0 })).toBeUndefined()
  })

  test.each([
    ['Öz Demir Lojistik A.Ş.', 'oz-demir-lojistik-a-s'],
    ['IŞIK Ltd', 'isik-ltd'],
    ['ılık', 'ilik'],
    ['  --  ', ''],
    ['x'.repeat(60), 'x'.repeat(41)],
  ])('the name %s suggests the short name %s', async (name, slug) => {
    const { slugFrom } = await import('../../../hub/web/shell/project-fields.ts')
    expect(slugFrom(name)).toBe(slug)
  })

  test('a plural takes the form of its language', async () => {
    const { plural } = await import('../../../web/ui/language.ts')
    const forms = { one: '# lead', other: '# leads' }
    expect([0, 1, 2, 1200].map((count) => plural('en', count, forms))).toEqual([
      '0 leads',
      '1 lead',
      '2 leads',
      '1,200 leads',
    ])
    expect(plural('tr', 1200, { other: '# aday' })).toBe('1.200 aday')
  })

  test('a time is said in its largest unit', async () => {
    const { relative } = await import('../../../web/ui/time.tsx')
    const now = Date.parse('2026-11-21T12:00:00Z')
    expect(relative('2026-11-21T11:59:50Z', 'en', now)).toBe('now')
    expect(relative('2026-11-21T09:30:00Z', 'en', now)).toBe('2 hr. ago')
    expect(relative('2026-11-20T11:00:00Z', 'tr', now)).toBe('dün')
  })

  test('a day of another year is said with its year', async () => {
    const { day } = await import('../../../web/ui/time.tsx')
    const now = Date.parse('2026-11-21T12:00:00Z')
    const said = (on: string) => ['en', 'tr'].map((locale) => day(on, locale, now))
    expect(said('2026-01-05')).toEqual(['Jan 5', '5 Oca'])
    expect(said('2027-01-05T00:00:00Z')).toEqual(['Jan 5, 2027', '5 Oca 2027'])
    expect(said('2025-12-31')).toEqual(['Dec 31, 2025', '31 Ara 2025'])
  })

  test('a brand’s colour is written on in what reads better', () => {
    expect([isDark('#1f6fb2'), isDark('#ffd200'), isDark('#000000')]).toEqual([true, false, true])
  })
})

describe('the board', () => {
  const lead = (id: string, stage: string, at: number) =>
    ({ id, stage, created_at: `2026-11-0${at}T00:00:00.000Z` }) as never // safe: what the board looks at

  test('keys move a held card by stages, never off the board', async () => {
    const { columnsOf, moveOf } = await import('../../../hub/web/pages/sales/board.ts')
    const columns = columnsOf([lead('a', 'new', 1), lead('b', 'new', 2), lead('c', 'won', 3)], {})
    expect(columns.new.map(({ id }) => id)).toEqual(['b', 'a'])
    const at = { id: 'b', stage: 'new', columns, held: undefined } as const
    expect(moveOf('ArrowDown', at)).toEqual({ kind: 'focus', id: 'a' })
    expect(moveOf('ArrowRight', at)).toEqual({ kind: 'focus', id: 'c' })
    expect(moveOf('ArrowUp', at)).toBeUndefined()
    const picked = moveOf(' ', at)
    expect(picked).toEqual({ kind: 'pick', held: { id: 'b', from: 'new', over: 'new' } })
    const held = { id: 'b', from: 'new', over: 'new' } as const
    expect(moveOf('ArrowLeft', { ...at, held })).toMatchObject({ held: { over: 'new' } })
    expect(moveOf('ArrowRight', { ...at, held })).toMatchObject({ held: { over: 'contacted' } })
    expect(moveOf('Escape', { ...at, held })).toEqual({ kind: 'put_back' })
  })
})
