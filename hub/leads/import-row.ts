import { z } from 'zod'
import { fold } from '../../shared/words/fold.ts'
import { issueWords } from '../i18n/issue.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { currencyOf, dayOf, numberOf } from './cells.ts'
import { DELIMITERS, ENCODINGS } from './csv.ts'
import { importsText } from './imports.text.ts'
import { languageOfCell } from './languages.ts'
import {
  isIdentified,
  LawfulBasis,
  LeadFields,
  type NewLead,
  type STAGES,
  Stage,
  Tag,
} from './lead.ts'
import { faultOf, type OwnField, valueOfCell } from './own-fields.ts'
import { MAX_QUOTE, MAX_ROW_NOTE, notesOf, shorten } from './shorten.ts'

const { row: say } = bilingual(importsText)

/** The fields that a column can be mapped to. */
export const IMPORT_FIELDS = [
  'id',
  'name',
  'first_name',
  'last_name',
  'email',
  'company',
  'title',
  'phone',
  'website',
  'country',
  'language',
  'stage',
  'source',
  'lawful_basis',
  'score',
  'tags',
  'note',
  'amount',
  'currency',
  'close_on',
  'next_step',
  'outcome_reason',
  'outcome_note',
  'basis_note',
  'basis_source',
  'basis_on',
] as const
export type ImportField = (typeof IMPORT_FIELDS)[number] | `custom.${string}`

/** Which column each field is read from: the header, as columnsFrom names it. */
const MappedField = z.union([
  z.enum(IMPORT_FIELDS),
  z.templateLiteral(['custom.', z.string().regex(/^[a-z][a-z0-9_]{0,39}$/)]),
])
export const Mapping = z.partialRecord(MappedField, z.string().min(1).max(300)).meta({
  description:
    'Maps each field to the name of its column, as the preview lists it; a field of the project’s own is `custom.<key>`.',
  example: { email: 'E-posta' },
})
export type Mapping = z.infer<typeof Mapping>

export type Mistake = { column: string; message: Words }
export type ImportRow = { lead: NewLead; notes: string[]; id: string | null; notices: Mistake[] }

/**
 * columnsFrom names the columns after the header row. Names are made unique; an empty one becomes
 * e.g. `#3`.
 */
export function columnsFrom(header: string[]): string[] {
  const names = header.map(
    (cell, index) => cell.replace(/\s+/g, ' ').trim().slice(0, 280) || `#${index + 1}`,
  )
  const taken = new Set(names)
  const counts = new Map<string, number>()
  return names.map((name) => {
    let count = (counts.get(name) ?? 0) + 1
    // The file may have a column of that name, as our own files have.
    while (count > 1 && taken.has(`${name} (${count})`)) count += 1
    counts.set(name, count)
    return count === 1 ? name : `${name} (${count})`
  })
}

/** Headers in English and Turkish, folded, without punctuation; the first that fits counts. */
const HEADERS: [ImportField, RegExp][] = [
  ['id', /^(lead )?id$/],
  ['outcome_note', /^outcome note$/],
  ['outcome_reason', /\b(outcome reason|lost reason|won reason|kayip nedeni|kazanma nedeni)\b/],
  ['basis_note', /^basis note$/],
  ['basis_source', /^basis source$/],
  ['basis_on', /^(basis on|basis date|dayanak tarihi)$/],
  [
    'language',
    /^((preferred|mail|e ?mail|contact|correspondence|spoken) )?language$|^((tercih (edilen|ettigi)|yazisma|iletisim|konustugu) )?(dil|dili|lisan)$/,
  ],
  ['email', /\b(e ?mail|mail|e ?posta|eposta)\b/],
  ['lawful_basis', /lawful|legal basis|consent|hukuki|kvkk|\briza/],
  ['website', /\b(web|website|web ?sitesi|url|homepage|domain|internet|alan adi|site)\b/],
  ['phone', /\b(phone|tel|telephone|telefon|telefonu|gsm|mobile|cep)\b/],
  ['first_name', /^(first ?name|given ?name|forename|ad|adi|isim)$/],
  ['last_name', /^(last ?name|surname|family ?name|soyad|soyadi|soyisim)$/],
  [
    'company',
    /\b(company|organi[sz]ation|account|business|firma(si|nin)?|sirket(i|in)?|kurum(un)?|ticari unvani?)\b/,
  ],
  ['title', /\b(title|position|role|function|gorev|gorevi|pozisyon|unvan|unvani|meslek)\b/],
  ['name', /\b(name|contact|person|ad soyad|adi soyadi|isim soyisim|yetkili|kisi)\b/],
  ['country', /\b(country|ulke|ulkesi)\b/],
  ['stage', /\b(stage|status|asama|asamasi|durum|durumu)\b/],
  ['source', /\b(source|origin|kaynak|kaynagi)\b/],
  ['score', /\b(score|puan|puani|skor)\b/],
  ['tags', /\b(tags?|labels?|etiket|etiketler|etiketleri)\b/],
  ['amount', /\b(amount|deal value|value|revenue|tutar|tutari|bedel)\b/],
  ['currency', /\b(currency|para birimi|doviz)\b/],
  ['close_on', /\b(close on|close date|closing date|expected close|kapanis|kapanis tarihi)\b/],
  ['next_step', /\b(next step|sonraki adim)\b/],
  ['note', /\b(notes?|comments?|remarks?|description|not|notlar|aciklama|yorum)\b/],
]

/** suggestMapping maps columns to fields by their headers and, for ids, by the first rows. */
export function suggestMapping(
  columns: string[],
  rows: string[][],
  own: Pick<OwnField, 'key' | 'label'>[] = [],
): Mapping {
  const mapping: Mapping = {}
  const plain = (text: string) =>
    fold(text)
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
  // In an export each of our names is the field of that name, also where a field of the project's own is called alike.
  const isExport = columns[0] === 'id' && columns.includes('created_at')
  const ours = (column: string) => IMPORT_FIELDS.find((field) => isExport && field === column)
  columns.forEach((column, index) => {
    const words = plain(column)
    const given = ours(column)
    if (given && given !== 'id' && !mapping[given]) {
      mapping[given] = column
      return
    }
    const named = own.find(
      ({ key, label }) => !mapping[`custom.${key}`] && [plain(label), plain(key)].includes(words),
    )
    if (named) {
      mapping[`custom.${named.key}`] = column
      return
    }
    const field = HEADERS.find(([field, form]) => !mapping[field] && form.test(words))?.[0]
    // A row that was added to an export has no id yet.
    const ids = rows.flatMap((row) => row[index]?.trim() || [])
    const hasIds = ids.length > 0 || rows.length === 0
    const isOurs = () => hasIds && ids.every((id) => z.guid().safeParse(id).success)
    if (field && (field !== 'id' || isOurs())) mapping[field] = column
  })
  const { first_name, last_name, name, ...others } = mapping
  if (isExport && name) return { ...others, name }
  // "Ad" and "İsim" are the whole name where no column has the surname.
  if (first_name && !last_name && !name) return { ...others, name: first_name }
  if (first_name && last_name) return { ...others, first_name, last_name }
  return { ...others, ...(name ? { name } : {}), ...(last_name && !name ? { last_name } : {}) }
}

const STAGE_WORDS: Record<(typeof STAGES)[number], string[]> = {
  new: ['yeni', 'lead', 'aday'],
  contacted: ['iletisime gecildi', 'ulasildi', 'arandi', 'iletisim kuruldu'],
  replied: ['yanitladi', 'yanit verdi', 'cevap verdi', 'cevapladi'],
  meeting: ['toplanti', 'gorusme', 'demo'],
  proposal: ['teklif', 'teklif verildi', 'offer', 'quote'],
  won: ['kazanildi', 'musteri', 'customer', 'closed won'],
  lost: ['kaybedildi', 'kayip', 'closed lost'],
}
const BASIS_WORDS: Record<z.infer<typeof LawfulBasis>, string[]> = {
  consent: ['riza', 'acik riza', 'onay', 'izin', 'opt in'],
  contract: ['sozlesme'],
  legitimate_interest: ['mesru menfaat'],
}

/** readRow returns the lead in a row with what is worth telling about it, or the mistakes by column. */
export function readRow(
  cells: string[],
  {
    columns,
    mapping,
    own = [],
  }: { columns: string[]; mapping: Mapping; own?: OwnField[] | undefined },
): { row: ImportRow; mistakes: Mistake[] } {
  const mistakes: Mistake[] = []
  const cell = (field: ImportField) => {
    const index = columns.indexOf(mapping[field] ?? '')
    return index < 0 ? '' : (cells[index] ?? '').trim()
  }
  const read = <T>(field: ImportField, schema: z.ZodType<T>, value: unknown): T | undefined => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    mistakes.push({ column: mapping[field] ?? field, message: wrong(field, parsed.error) })
    return undefined
  }
  const texts = [
    ...(['email', 'company', 'title', 'phone', 'website', 'country', 'source'] as const),
    ...(['next_step', 'outcome_reason', 'outcome_note', 'basis_note', 'basis_source'] as const),
  ] as const
  const lead: NewLead = {}
  for (const field of texts) {
    const value = read(field, LeadFields[field], cell(field))
    if (value) lead[field] = value
  }
  const name = cell('name') || [cell('first_name'), cell('last_name')].filter(Boolean).join(' ')
  const nameField = mapping.name ? 'name' : 'first_name'
  const readName = read(nameField, LeadFields.name, name)
  if (readName) lead.name = readName
  if (cell('language')) {
    lead.language = read('language', LeadFields.language, languageOfCell(cell('language')))
  }
  if (cell('stage')) lead.stage = read('stage', Stage, wordFor(cell('stage'), STAGE_WORDS))
  if (cell('lawful_basis')) {
    lead.lawful_basis = read(
      'lawful_basis',
      LawfulBasis,
      wordFor(cell('lawful_basis'), BASIS_WORDS),
    )
  }
  if (cell('score')) lead.score = read('score', LeadFields.score, Number(cell('score')))
  if (cell('amount')) {
    lead.amount = read('amount', LeadFields.amount, numberOf(cell('amount')) ?? cell('amount'))
  }
  if (cell('currency')) {
    lead.currency = read('currency', LeadFields.currency, currencyOf(cell('currency')))
  }
  for (const field of ['close_on', 'basis_on'] as const) {
    if (cell(field)) lead[field] = read(field, LeadFields[field], dayOf(cell(field)))
  }
  if (lead.amount != null && !lead.currency) {
    mistakes.push({ column: mapping.amount ?? 'amount', message: say.no_currency })
  }
  for (const field of own) {
    const given = cell(`custom.${field.key}`)
    if (!given) continue
    const value = valueOfCell(field, given)
    const message = faultOf(field, value)
    if (message) mistakes.push({ column: mapping[`custom.${field.key}`] ?? field.label, message })
    else lead.custom = { ...lead.custom, [field.key]: value }
  }
  const tags = cell('tags')
    .split(/[,;]/)
    .map((tag) => tag.trim())
    .filter(Boolean)
  if (tags.length > 0) lead.tags = read('tags', LeadFields.tags, tags)
  if (cells.length > columns.length && cells.slice(columns.length).some(Boolean)) {
    const message = say.cells(cells.length, columns.length)
    mistakes.push({ column: columns.at(-1) ?? '', message })
  }
  if (mistakes.length === 0 && !isIdentified(lead)) {
    const column = mapping.name ?? mapping.email ?? mapping.company ?? mapping.first_name ?? ''
    mistakes.push({ column, message: say.unnamed })
  }
  const given = cell('id')
  const id = z.guid().safeParse(given).success ? given : null
  const note = cell('note').replaceAll('\0', '')
  const notes = notesOf(note)
  const at = { column: mapping.note ?? 'note' }
  if (note.length > MAX_ROW_NOTE) {
    mistakes.push({ ...at, message: say.long_note(note.length, MAX_ROW_NOTE) })
  }
  const notices =
    notes.length > 1 ? [{ ...at, message: say.divided_note(note.length, notes.length) }] : []
  return { row: { lead, notes, id, notices }, mistakes }
}

/** For fields with fixed values, lists them; for others, the schema's own message. */
function wrong(field: ImportField, { issues }: z.core.$ZodError): Words {
  if (
    field === 'stage' ||
    field === 'lawful_basis' ||
    field === 'score' ||
    field === 'amount' ||
    field === 'language'
  ) {
    return say[field]
  }
  if (field === 'close_on' || field === 'basis_on') return say.date
  return issueWords(issues[0] ?? { code: 'other', message: '' })
}

/**
 * Maps an English or Turkish label to the stored value; anything else is returned unchanged and
 * refused later.
 */
function wordFor(text: string, words: Record<string, string[]>): string {
  const plain = fold(text)
    .replace(/[^a-z]+/g, ' ')
    .trim()
  for (const [word, others] of Object.entries(words)) {
    if (plain === word.replaceAll('_', ' ') || others.includes(plain)) return word
  }
  return text
}

/** The row as a sentence with the file's headers, kept as evidence that drafts can cite. */
export function factOf(lead: NewLead, mapping: Mapping): string {
  const names = [mapping.first_name, mapping.last_name].filter(Boolean).join(' ')
  const fields = ['name', 'title', 'company', 'country', 'website', 'email', 'phone'] as const
  const said = fields.flatMap((field) => {
    const header = mapping[field] ?? (field === 'name' ? names : '')
    return lead[field] ? [`${header}: ${lead[field]}`] : []
  })
  return said.join('; ').slice(0, 1000)
}

/** The row as it is in the file; of a longer one than a quotation may be, in which column it ends. */
export function quoteOf(
  columns: string[],
  cells: string[],
): { quote: string; ends_in: string | null } {
  let whole = ''
  let ends_in: string | null = null
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]?.replaceAll('\0', '')
    if (!cell) continue
    whole += `${whole ? '; ' : ''}${column}: ${cell}`
    if (whole.length > MAX_QUOTE) ends_in ??= column
  }
  return { quote: shorten(whole, MAX_QUOTE), ends_in }
}

/** The options of an import. */
export const ImportChoices = z.strictObject({
  mapping: Mapping.optional().meta({
    description: 'Absent: the mapping that the preview suggests.',
  }),
  duplicates: z.enum(['skip', 'merge', 'update']).default('skip').meta({
    description:
      'What happens to an existing lead: `skip` leaves it unchanged, `merge` fills in empty fields and adds tags, `update` overwrites it with the row.',
  }),
  source: LeadFields.source
    .optional()
    .meta({ description: 'The source of new leads. Absent: the name of the file.' }),
  lawful_basis: LawfulBasis.nullable().optional(),
  basis_note: LeadFields.basis_note.optional(),
  basis_source: LeadFields.basis_source.optional(),
  basis_on: LeadFields.basis_on.optional(),
  tags: z.array(Tag).max(20).optional(),
  facts: z.array(z.string().min(1).max(300)).max(500).optional().meta({
    description:
      'The columns that no field takes and that are kept as facts of the lead. Absent: all of them.',
  }),
  encoding: z.enum(ENCODINGS).optional(),
  delimiter: z.enum(DELIMITERS).optional(),
})
export type ImportChoices = z.output<typeof ImportChoices>

/** The state of a running import. */
export type ImportOptions = Required<
  Pick<ImportChoices, 'duplicates' | 'tags' | 'encoding' | 'delimiter'>
> &
  Pick<ImportChoices, 'basis_note' | 'basis_source' | 'basis_on'> & {
    mapping: Mapping
    columns: string[]
    /** The project's own fields that a column is mapped to. */
    own?: OwnField[]
    /** Columns kept as facts, and those beyond the limit; an import of an earlier release has none. */
    facts?: string[]
    over?: string[]
    source: string | null
    lawful_basis: z.infer<typeof LawfulBasis> | null
  }
