import { z } from 'zod'
import { bilingual, type Words } from '../i18n/words.ts'
import { heading, list, plain, table } from '../projects/markdown.ts'
import { type Agent, type AgentContext, COMMON } from './agent.ts'
import { givenText, givenTexts } from './evidence/given.ts'
import { CURRENCIES, currencyIn, type Line, money, totals } from './numbers/money.ts'
import { spelledNumbers } from './numbers/spelled.ts'
import { decimal, mentions, numbersIn } from './run/facts.ts'
import { stopText } from './stop.text.ts'
import { saveDocument } from './writing.ts'

const amount = z.string().max(16)

const Sheet = z.object({
  title: z.string().min(3).max(100),
  party: z.string().max(120).nullable(),
  currency: z.enum(CURRENCIES),
  items: z
    .array(
      z.object({
        description: z.string().min(1).max(100),
        quantity: amount,
        unit: z.string().max(20),
        unit_price: amount.nullable(),
      }),
    )
    .min(1)
    .max(12),
  discount_percent: amount.nullable(),
  tax_percent: amount.nullable(),
  open_points: z.array(z.string().max(160)).max(4),
})

const WORDS = {
  item: { en: 'Item', tr: 'Kalem' },
  quantity: { en: 'Quantity', tr: 'Miktar' },
  unit: { en: 'Unit', tr: 'Birim' },
  price: { en: 'Unit price', tr: 'Birim fiyat' },
  amount: { en: 'Amount', tr: 'Tutar' },
  subtotal: { en: 'Subtotal', tr: 'Ara toplam' },
  discount: { en: 'Discount', tr: 'İskonto' },
  tax: { en: 'VAT', tr: 'KDV' },
  total: { en: 'Total', tr: 'Genel toplam' },
  open: { en: 'Open points', tr: 'Açık noktalar' },
  party: { en: 'For', tr: 'Alıcı' },
  missing: { en: 'to be agreed', tr: 'belirlenecek' },
  no_price: {
    en: 'No price was given for "{x}"; the total is without it.',
    tr: '"{x}" için fiyat verilmedi; toplam onsuzdur.',
  },
  no_quantity: {
    en: 'The quantity of "{x}" stands nowhere in what was given; 1 is assumed.',
    tr: '"{x}" için miktar verilenlerde geçmiyor; 1 varsayıldı.',
  },
  draft: {
    en: 'A draft: numbers are the given ones, sums are computed. It is not a legal invoice.',
    tr: 'Taslaktır: sayılar verilenlerdir, toplamlar hesaplanmıştır. Resmî fatura değildir.',
  },
} satisfies Record<string, Words>

const DISCOUNT = /[iİ]ndirim|[iİ]skonto|discount|rebate|reduction|\boff\b/i

/** Invoices, cost tables and budgets: the model reads the items, code does the arithmetic. */
export const finance: Agent = {
  name: 'finance',
  role: {
    en: 'Cost tables, budgets and invoice drafts, computed by code',
    tr: 'Maliyet tabloları, bütçeler ve fatura taslakları; hesabı kod yapar',
  },
  variables: { ...COMMON, currencies: () => CURRENCIES.join(', ') },
  budget: { steps: 6, tokens: 12_000 },
  steps: async (context) => {
    context.expect(3)
    const facts = await givenText(context)
    const texts = (await givenTexts(context)).map(({ text }) => text)
    const known = knownNumbers(context, texts)
    const sheet = await context.complete('items', {
      schema: Sheet,
      facts,
      task:
        'List the items with quantity and unit price exactly as the text writes the numbers. ' +
        'Do no arithmetic and no conversion. A price that nobody has given is null; name it under open_points.',
      check: (value) => strange(value, known),
      if_wrong: 'keep',
    })
    const open = [...sheet.open_points]
    const lines = sheet.items.map((item): Line => {
      const unit_price = given(item.unit_price, known)
      if (unit_price === null) {
        open.push(WORDS.no_price[context.language].replace('{x}', item.description))
      }
      const quantity = given(item.quantity, known)
      if (quantity === null) {
        open.push(WORDS.no_quantity[context.language].replace('{x}', item.description))
      }
      return { ...item, quantity: quantity ?? '1', unit_price }
    })
    const written = [context.mission.task, ...texts].join('\n')
    const percent = {
      // A small model gives a tax as a discount, too.
      discount: DISCOUNT.test(written) ? given(sheet.discount_percent, known) : null,
      tax: given(sheet.tax_percent, known),
    }
    const sums = totals(lines, percent)
    const say = (word: keyof typeof WORDS) => WORDS[word][context.language]
    // What the text names counts, whatever the model takes.
    const currency = currencyIn(written) ?? sheet.currency
    const party = sheet.party && mentions(written, sheet.party) ? sheet.party : undefined
    const show = (cents: bigint) => money(cents, currency, context.language)
    const columns = [say('item'), say('quantity'), say('unit'), say('price'), say('amount')]
    const rows = sums.lines.map((line) => [
      line.description,
      line.quantity,
      line.unit,
      line.unit_price ?? say('missing'),
      line.cents === null ? say('missing') : show(line.cents),
    ])
    rows.push([say('subtotal'), '', '', '', show(sums.subtotal)])
    if (percent.discount) {
      rows.push([`${say('discount')} ${percent.discount} %`, '', '', '', `-${show(sums.discount)}`])
    }
    if (percent.tax) rows.push([`${say('tax')} ${percent.tax} %`, '', '', '', show(sums.tax)])
    rows.push([say('total'), '', '', '', show(sums.total)])
    const document = await context.outside('document', () =>
      saveDocument(context, {
        agent: 'finance',
        title: sheet.title,
        blocks: [
          party ? plain(`${say('party')}: ${party}`) : undefined,
          table(columns, rows, [1, 3, 4]),
          open.length > 0 && heading(2, say('open')),
          list(open),
          plain(say('draft')),
        ],
      }),
    )
    const summary = `${say('total')}: ${show(sums.total)}`
    return { summary, documents: [document], table: { columns, rows } }
  },
}

function knownNumbers(context: AgentContext, texts: string[]): Set<string> {
  const text = [context.mission.task, context.brief, ...texts].join('\n')
  return new Set([...numbersIn(text), ...spelledNumbers(text, context.language), '1'])
}

/** The number as it was written, in digits, if it occurs in the input. */
function given(text: string | null, known: Set<string>): string | null {
  const number = text?.match(/\d+(?:[.,]\d+)*/)?.[0] ?? spelledNumbers(text ?? '', 'tr')[0]
  if (number === undefined || !known.has(String(decimal(number)))) return null
  return number
}

function strange(sheet: z.infer<typeof Sheet>, known: Set<string>): Words | undefined {
  const all = [
    ...sheet.items.flatMap(({ quantity, unit_price }) => [quantity, unit_price]),
    sheet.tax_percent,
    sheet.discount_percent,
  ]
  const wrong = all.filter((text) => text !== null && given(text, known) === null)
  if (wrong.length === 0) return undefined
  return bilingual(stopText).strange_numbers(wrong.slice(0, 5).join(', '))
}
